#!/usr/bin/env python3
"""Counts the test cases of a Bazel run, and of further JUnit files.

A target that did not build, crashed or timed out counts as a failed case. The
failed cases are listed with their output, then the slowest cases that ran, and
the number of programs that they compiled into the common cache; the last line
is "N passed, N failed[, N skipped]". Exits with 1 where a case failed or none
ran.
"""

import argparse
import json
import os
import pathlib
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


SLOWEST_SHOWN = 20


class Report:
    def __init__(self):
        self.passed = 0
        self.failures = []  # (name, output)
        self.skipped = []  # (name, reason)
        self.times = []  # (seconds, name)

    def fail(self, name, output):
        self.failures.append((name, output.strip()))

    def add_case(self, prefix, case, ran):
        name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
        name = f"{prefix} {name}"
        if ran:
            self.times.append((float(case.get("time") or 0), name))
        problems = case.findall("failure") + case.findall("error")
        skip = case.find("skipped")
        if problems:
            self.fail(name, "\n".join(text_of(problem) for problem in problems))
        elif skip is not None:
            self.skipped.append((name, text_of(skip)))
        elif case.get("status") == "notrun":
            self.skipped.append((name, "disabled"))
        else:
            self.passed += 1

    def add_file(self, prefix, path, ran=True):
        """Returns whether a failed case was found. `ran`: in this run, so that
        the times are its own."""
        before = len(self.failures)
        for case in ElementTree.parse(path).iter("testcase"):
            self.add_case(prefix, case, ran)
        return len(self.failures) > before

    def print_times(self):
        slowest = sorted(self.times, reverse=True)[:SLOWEST_SHOWN]
        for seconds, name in slowest:
            print(f"SLOW {seconds:7.1f} s  {name}")

    def print_and_judge(self, programs):
        for name, reason in self.skipped:
            print(f"SKIPPED {name}: {' '.join(reason.split())}")
        for name, output in self.failures:
            print(f"FAILED {name}")
            for line in output.splitlines():
                print(f"    {line}")
        self.print_times()
        print(f"{programs} programs compiled")
        line = f"{self.passed} passed, {len(self.failures)} failed"
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
    failed = False
    try:
        failed = report.add_file(label, outputs["test.xml"],
                                 not is_cached(result))
    except (KeyError, OSError, ElementTree.ParseError):
        pass
    if failed:
        # A test that crashed left no report; this is what Bazel wrote for it.
        name, output = report.failures[-1]
        if output.startswith("exited with error code"):
            report.failures[-1] = (name, f"{output}\n{tail(log)}")
    status = result.get("status", "NO_STATUS")
    if status not in ("PASSED", "FLAKY") and not failed:
        report.fail(f"{label} ({status})", tail(log))


def add_bazel_run(report, events, bazel_status):
    ran, targets, incomplete = set(), set(), set()
    before = len(report.failures)
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
    for label in sorted((targets | incomplete) - ran):
        report.fail(f"{label} (did not build)", "see the messages of Bazel above")
    # 3: all built, some tests failed; they were counted.
    if bazel_status not in (0, 3) and len(report.failures) == before:
        report.fail(f"bazel (exit status {bazel_status})",
                    "see the messages of Bazel above")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", required=True,
                        help="file of bazel test --build_event_json_file")
    parser.add_argument("--bazel-status", type=int, default=0)
    parser.add_argument("--kernel-caches", required=True, type=pathlib.Path,
                        help="folder of what the tests compiled")
    parser.add_argument("junit", nargs="*", help="further results")
    arguments = parser.parse_args()

    report = Report()
    add_bazel_run(report, read_events(arguments.events), arguments.bazel_status)
    for path in arguments.junit:
        name = os.path.splitext(os.path.basename(path))[0]
        try:
            report.add_file(name, path)
        except (OSError, ElementTree.ParseError) as error:
            report.fail(name, str(error))
    return report.print_and_judge(count_programs(arguments.kernel_caches))


if __name__ == "__main__":
    sys.exit(main())
