"""What the prebuilt SDK is made of."""

def _static_archives_impl(ctx):
    files = []
    for dep in ctx.attr.deps:
        for linker_input in dep[CcInfo].linking_context.linker_inputs.to_list():
            for library in linker_input.libraries:
                files.append(library.pic_static_library or library.static_library)
    return [DefaultInfo(files = depset(files))]

static_archives = rule(
    implementation = _static_archives_impl,
    doc = "The archives of these libraries and of all that they depend on.",
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)

def package_file(name, package, template, version):
    """A file of cmake/package for the package of that name."""
    native.genrule(
        name = name.replace(".", "_"),
        srcs = [template],
        outs = [name],
        cmd = "sed 's/@NAME@/%s/g; s/@VERSION@/%s/g; s/@MAJOR@/%s/g' $< > $@" %
              (package, version, version.split(".")[0]),
    )
