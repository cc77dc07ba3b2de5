#!/usr/bin/env python3
"""Runs what README.md and the other documents tell users to type.

check_commands.py FOLDER RESULT.xml copies the sources to FOLDER/tree, runs
there every block of commands (```sh) with FOLDER/prefix for /opt/tim-cl, and
writes JUnit XML, a case per block. A block fails where a command of it does or
warns, or a text is missing that a comment says it prints ("# prints 0 4"). A
command is one line, or several that end in a backslash.
Of benchmarks only --help is run, of the test suite nothing. FOLDER/tree keeps
its build folder from one call to the next; FOLDER/prefix has what was installed.

To compile the library twice takes a sixth of the suite's time. So CMake's builds,
here and in check_cmake.sh, compile a source of every part of the tree and take for
the others the objects that Bazel has made of them; they compile all of them with
another compiler, where Bazel has built nothing, and where TIMCL_TEST_LONG is set.
"""

import argparse
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREFIX = "/opt/tim-cl"
# In this order: README.md installs what the others use. Commands start in the
# root, those of a sample in its folder.
DOCUMENTS = ["README.md", "docs/*.md", "bench/README.md", "samples/*/README.md"]
NOT_COPIED = ["./build", "./build-*", "./bazel-*", "./.git", "./.cache"]
SUITE = re.compile(r"(.*\s)?(\./)?(tools/test\.sh|\.ci/run)\b")
BENCHMARK = re.compile(r"(.*\s)?(\./)?bench/run\.sh\b")
PRINTS = re.compile(r"\s#\s+prints (.+)$")
WARNING = re.compile(r"\bwarning:|^CMake (Deprecation )?Warning", re.I | re.M)
LINES_SHOWN = 60

# Everything that test.sh built, with its options, is in the repository itself.
BAZEL = """#!/bin/sh
cd '{root}' || exit 1
command=$1
shift
case " $* " in *' --config=werror '*) ;; *) set -- --config=werror "$@" ;; esac
exec '{bazel}' "$command" "$@"
"""


def blocks(text):
    """(the heading above, the commands) of every block; a fence that does not
    end, or stands for a shell by another name, is a ValueError."""
    heading, language, lines = "", None, []
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        if language is None and not fence:
            if line.startswith("#"):
                heading = line.lstrip("#").strip()
        elif language is None:
            language, lines = line[3:], []
            if line.lstrip() != line or language in ("bash", "shell", "console"):
                raise ValueError("write ```sh at the start of a line: " + line)
        elif not fence:
            lines.append(line)
        else:
            if language == "sh":
                yield heading, lines
            language = None
    if language is not None:
        raise ValueError("a block under '%s' does not end" % heading)


def to_run(command, prefix):
    """The command as it is run here, or none."""
    command = re.sub(r"(^|\s+)#(\s.*)?$", "", command).strip()
    if SUITE.match(command):
        return None
    if BENCHMARK.match(command):
        command += " --help"
    return command.replace(PREFIX, str(prefix)) or None


def script(commands, prefix):
    """A block's text for bash; the first command that fails ends it."""
    joined = "\n".join(commands).replace("\\\n", " ").splitlines()
    lines = [to_run(command, prefix) for command in joined]
    return "".join("%s || exit 1\n" % line for line in lines if line)


def promised(commands):
    """The texts that comments say commands print."""
    found = [PRINTS.search(command) for command in commands]
    return [match.group(1) for match in found if match]


def copy_sources(source, tree):
    """With their times, so that what was built from the same is kept."""
    tree.mkdir(parents=True, exist_ok=True)
    for entry in tree.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            if entry.name != "build":
                shutil.rmtree(entry)
        else:
            entry.unlink()
    # No option of an earlier configuration holds.
    (tree / "build" / "CMakeCache.txt").unlink(missing_ok=True)
    without = ["--exclude=" + pattern for pattern in NOT_COPIED]
    pack = subprocess.Popen(
        ["tar", "-C", source, *without, "-cf", "-", "."], stdout=subprocess.PIPE
    )
    subprocess.check_call(["tar", "-C", tree, "-xf", "-"], stdin=pack.stdout)
    if pack.wait() != 0:
        raise SystemExit("check_commands.py: %s was not copied" % source)
    (tree / "bazel-bin").symlink_to(source / "bazel-bin")


# What CMake compiles, too.
COMPILED_TWICE = [
    "src", "ops", "custom_ops", "samples", "tests/structure", "tools/timcl"
]


def part_of(name):
    """Whose sources have their options, and much of what they include, in common:
    src/vx/graph/graph.cc is of src/vx."""
    return "/".join(os.path.dirname(name).split("/")[:2])


def objects_of_bazel(source):
    """The object of every source that Bazel has compiled and CMake compiles, but
    of the first one of each part."""
    made = {}
    for folder in COMPILED_TWICE:
        root = source / "bazel-bin" / folder
        objects = glob.glob("%s/**/*.pic.o" % root, recursive=True)
        # Of a source that has changed its target the object that was made last.
        for object_file in sorted(objects, key=os.path.getmtime):
            listed = pathlib.Path(object_file[: -len(".o")] + ".d")
            if listed.exists():
                named = listed.read_text().replace("\\\n", " ").split()
                made[named[1]] = object_file
    parts = set()
    for name in sorted(made):
        part = part_of(name)
        if part in parts and (source / name).exists():
            yield name, made[name]
        parts.add(part)


def take_objects(folder, source, variables):
    objects = folder / "objects.txt"
    lines = [
        "%s %s\n" % (folder / "tree" / name, object_file)
        for name, object_file in objects_of_bazel(source)
    ]
    if not lines:
        return
    objects.write_text("".join(lines))
    variables["TIMCL_BAZEL_OBJECTS"] = str(objects)
    variables["CMAKE_CXX_COMPILER_LAUNCHER"] = str(ROOT / "tools/bazel/take_object.sh")


def environment(folder, source, compiler):
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    bazel = programs / "bazel"
    bazel.write_text(BAZEL.format(root=source, bazel=shutil.which("bazel")))
    bazel.chmod(0o755)
    result = dict(os.environ, PATH="%s:%s" % (programs, os.environ["PATH"]))
    result.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(len(os.sched_getaffinity(0))))
    if compiler:
        result["CXX"] = compiler
    elif "TIMCL_TEST_LONG" not in os.environ:
        take_objects(folder, source, result)
    for variable in ("POCL_CACHE_DIR", "TIMCL_CACHE_DIR"):
        caches = folder / "caches" / variable.lower()
        caches.mkdir(mode=0o700, parents=True, exist_ok=True)
        result[variable] = str(caches)
    return result


def last_lines(text):
    return "\n".join(text.splitlines()[-LINES_SHOWN:])


def run(text, promises, folder, variables):
    """What is wrong with a block, or nothing."""
    done = subprocess.run(
        ["bash", "-x", "-c", text],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode != 0:
        return last_lines(done.stdout)
    for promise in promises:
        if promise not in done.stdout:
            return "did not print '%s':\n%s" % (promise, last_lines(done.stdout))
    found = WARNING.search(done.stdout)
    if found is None:
        return ""
    start = done.stdout.rfind("\n", 0, found.start()) + 1
    return "\n".join(done.stdout[start:].splitlines()[:LINES_SHOWN])


def check_document(document, prefix, tree, variables):
    """A test case for every block of the document."""
    text = (tree / document).read_text()
    folder = tree
    if document.startswith("samples/"):
        # What is built there is no part of the sources.
        folder = tree.parent / pathlib.Path(document).parent
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree((tree / document).parent, folder)
    for number, (heading, commands) in enumerate(blocks(text), 1):
        to_do = script(commands, prefix)
        if not to_do:
            continue
        name = "%d: %s" % (number, heading)
        print("commands: %s %s" % (document, name), flush=True)
        case = ElementTree.Element("testcase", classname=document, name=name)
        start = time.monotonic()
        problem = run(to_do, promised(commands), folder, variables)
        case.set("time", "%.1f" % (time.monotonic() - start))
        if problem:
            report(case, problem)
            # What warned is to warn again.
            shutil.rmtree(tree / "build", ignore_errors=True)
        yield case


def report(case, problem):
    print(problem, flush=True)
    printable = re.sub(r"[^\t\n\x20-\ufffd]", "?", problem)
    ElementTree.SubElement(case, "failure").text = printable


def unreadable(document, error):
    case = ElementTree.Element("testcase", classname=document, name="blocks")
    report(case, str(error))
    return case


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("folder", type=pathlib.Path, help="to work in")
    add("result", type=pathlib.Path, help="JUnit file to write")
    add("--compiler", help="CXX for CMake, such as clang++")
    add("--source", type=pathlib.Path, default=ROOT, help="the repository")
    arguments = parser.parse_args()
    source = arguments.source.resolve()
    folder = arguments.folder.resolve()
    tree, prefix = folder / "tree", folder / "prefix"
    copy_sources(source, tree)
    shutil.rmtree(prefix, ignore_errors=True)
    variables = environment(folder, source, arguments.compiler)
    suite = ElementTree.Element("testsuite", name="Commands")
    for pattern in DOCUMENTS:
        for path in sorted(glob.glob(pattern, root_dir=tree)):
            try:
                cases = check_document(path, prefix, tree, variables)
                suite.extend(list(cases))
            except ValueError as error:
                suite.append(unreadable(path, error))
    if len(suite) == 0:
        suite.append(unreadable("README.md", "there is no block of commands"))
    arguments.result.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(arguments.result)
    return 0 if suite.find("*/failure") is None else 1


if __name__ == "__main__":
    sys.exit(main())
