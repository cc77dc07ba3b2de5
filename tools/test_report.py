#!/usr/bin/env python3
"""Counts the test cases of a Bazel run, and of further JUnit files.

A target that did not build, crashed or timed out counts as a failed case. The
failed cases are listed with their output, then the slowest cases that ran, and
the number of programs that they compiled into the common cache; the last line
is "N passed, N failed[, N known to fail][, N skipped]". Exits with 1 where a
case failed or none ran.

Cases that a driver is known to fail stand in the file of --known, one a line:
"TARGET CASE reason"; both may have * in them. What such a line stands for is
no failed case, but a line none of whose cases fails any more is one. Cases whose
reason begins with "ends the process" are left out by tools/bazel/run_test.sh,
which fails where one passes.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


SLOWEST_SHOWN = 20
ENDING = "ends the process"


class Known:
    """The lines of a file of --known."""

    def __init__(self, path):
        self.path = path
        self.entries = []  # (target, case, reason)
        self.met = set()  # entries whose cases ran
        self.failed = set()  # entries with a case that failed
        if path:
            lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines, 1):
                if line.strip() and not line.startswith("#"):
                    self.add(number, line.split(None, 2))

    def add(self, number, words):
        if len(words) < 3:
            sys.exit(f"{self.path}:{number}: expected a target, a case and why "
                     "it fails")
        self.entries.append(tuple(words))

    def find(self, label, case, failed):
        """The reason for which the case is known to fail, or None."""
        for entry in self.entries:
            target, pattern, reason = entry
            if not (fnmatch.fnmatchcase(label, target)
                    and fnmatch.fnmatchcase(case, pattern)):
                continue
            self.met.add(entry)
            if failed:
                self.failed.add(entry)
            return reason
        return None

    def left_out(self, label):
        return [entry for entry in self.entries
                if entry[0] == label and entry[2].startswith(ENDING)]

    def outdated(self):
        return [entry for entry in self.entries
                if entry in self.met - self.failed]


class Report:
    def __init__(self, known):
        self.passed = 0
        self.known = known
        self.known_failures = []  # (name, reason)
        self.failures = []  # (name, output)
        self.skipped = []  # (name, reason)
        self.times = []  # (seconds, name)

    def fail(self, label, case, output):
        name = f"{label} {case}".rstrip()
        reason = self.known.find(label, case, True)
        if reason is None:
            self.failures.append((name, output.strip()))
        else:
            self.known_failures.append((name, reason))

    def add_case(self, prefix, case, ran):
        own = ".".join(filter(None, [case.get("classname"), case.get("name")]))
        name = f"{prefix} {own}"
        if ran:
            self.times.append((float(case.get("time") or 0), name))
        problems = case.findall("failure") + case.findall("error")
        skip = case.find("skipped")
        if problems:
            self.fail(prefix, own,
                      "\n".join(text_of(problem) for problem in problems))
        elif skip is not None:
            self.skipped.append((name, text_of(skip)))
        elif case.get("status") == "notrun":
            self.skipped.append((name, "disabled"))
        else:
            self.known.find(prefix, own, False)
            self.passed += 1

    def add_file(self, prefix, path, ran=True):
        """Returns whether a failed case was found. `ran`: in this run, so that
        the times are its own."""
        before = self.failed_cases()
        for case in ElementTree.parse(path).iter("testcase"):
            self.add_case(prefix, case, ran)
        return self.failed_cases() > before

    def add_left_out(self, label):
        for _, case, reason in self.known.left_out(label):
            self.known_failures.append((f"{label} {case}", reason))

    def failed_cases(self):
        return len(self.failures) + len(self.known_failures)

    def add_outdated(self):
        for target, case, reason in self.known.outdated():
            self.failures.append(
                (f"{target} {case} (passes)",
                 f"{self.known.path} says that it fails, because {reason}; "
                 "remove that line"))

    def print_times(self):
        slowest = sorted(self.times, reverse=True)[:SLOWEST_SHOWN]
        for seconds, name in slowest:
            print(f"SLOW {seconds:7.1f} s  {name}")

    def print_and_judge(self, programs):
        for name, reason in self.skipped:
            print(f"SKIPPED {name}: {' '.join(reason.split())}")
        for name, reason in self.known_failures:
            print(f"KNOWN {name}: {reason}")
        for name, output in self.failures:
            print(f"FAILED {name}")
            for line in output.splitlines():
                print(f"    {line}")
        self.print_times()
        print(f"{programs} programs compiled")
        line = f"{self.passed} passed, {len(self.failures)} failed"
        if self.known_failures:
            line += f", {len(self.known_failures)} known to fail"
        if self.skipped:
            line += f", {len(self.skipped)} skipped"
        print(line)
        return 1 if self.failures or self.passed == 0 else 0


def text_of(element):
    return (element.text or "").strip() or element.get("message") or ""


def local_path(uri):
    return urllib.parse.unquote(urllib.parse.urlparse(uri).path)


def tail(path, lines=60):
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            return "\n".join(log.read().splitlines()[-lines:])
    except OSError:
        return ""


def read_events(path):
    try:
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.strip()]
    except (OSError, ValueError):
        return []


def count_programs(caches):
    """Those that PoCL keeps, or TIM-CL for runtimes that keep none."""
    files = [*caches.glob("pocl/**/program.bc"), *caches.glob("timcl/*.bin")]
    return len(files)


def is_cached(result):
    remotely = result.get("executionInfo", {}).get("cachedRemotely", False)
    return result.get("cachedLocally", False) or remotely


def add_test_result(report, event):
    label = event["id"]["testResult"]["label"]
    result = event["testResult"]
    outputs = {
        output["name"]: local_path(output.get("uri", ""))
        for output in result.get("testActionOutput", [])
    }
    log = outputs.get("test.log", "")
    before = len(report.failures)
    failed = False
    try:
        failed = report.add_file(label, outputs["test.xml"],
                                 not is_cached(result))
    except (KeyError, OSError, ElementTree.ParseError):
        pass
    if len(report.failures) > before:
        # A test that crashed left no report; this is what Bazel wrote for it.
        name, output = report.failures[-1]
        if output.startswith("exited with error code"):
            report.failures[-1] = (name, f"{output}\n{tail(log)}")
    status = result.get("status", "NO_STATUS")
    if status not in ("PASSED", "FLAKY") and not failed:
        report.fail(label, f"({status})", tail(log))


def add_bazel_run(report, events, bazel_status):
    ran, targets, incomplete = set(), set(), set()
    before = report.failed_cases()
    for event in events:
        if "testResult" in event:
            ran.add(event["id"]["testResult"]["label"])
            add_test_result(report, event)
        elif "configured" in event:
            label = event["id"]["targetConfigured"]["label"]
            if event["configured"].get("targetKind", "").endswith("_test rule"):
                targets.add(label)
        elif "targetCompleted" in event["id"]:
            if not event.get("completed", {}).get("success"):
                incomplete.add(event["id"]["targetCompleted"]["label"])
    for label in sorted(ran):
        report.add_left_out(label)
    for label in sorted((targets | incomplete) - ran):
        report.fail(label, "(did not build)", "see the messages of Bazel above")
    # 3: all built, some tests failed; they were counted.
    if bazel_status not in (0, 3) and report.failed_cases() == before:
        report.fail("bazel", f"(exit status {bazel_status})",
                    "see the messages of Bazel above")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", required=True,
                        help="file of bazel test --build_event_json_file")
    parser.add_argument("--bazel-status", type=int, default=0)
    parser.add_argument("--kernel-caches", required=True, type=pathlib.Path,
                        help="folder of what the tests compiled")
    parser.add_argument("--known", help="file of cases that a driver fails")
    parser.add_argument("junit", nargs="*", help="further results")
    arguments = parser.parse_args()

    report = Report(Known(arguments.known))
    add_bazel_run(report, read_events(arguments.events), arguments.bazel_status)
    for path in arguments.junit:
        name = os.path.splitext(os.path.basename(path))[0]
        try:
            report.add_file(name, path)
        except (OSError, ElementTree.ParseError) as error:
            report.fail(name, "", str(error))
    report.add_outdated()
    return report.print_and_judge(count_programs(arguments.kernel_caches))


if __name__ == "__main__":
    sys.exit(main())
