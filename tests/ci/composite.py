"""Runs the steps of action.yml as the runner of GitHub does, in a temporary folder.

Of GitHub's own actions stands in what the steps need: a Python, a cache that is kept over jobs, the artefacts of a
workflow. Expressions are those that action.yml has: contexts, strings, ``== != && || !``, parentheses, ``always()``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
TOKEN = re.compile(r"\s*(?:(==|!=|&&|\|\||[()!])|'([^']*)'|(always\(\))|([a-z_]+(?:\.[A-Za-z_-]+)+))")
OPERATORS = {"&&": " and ", "||": " or ", "!": " not "}
OURS = ("PYTHON", "PYTEST", "COV", "VIRTUAL_ENV", "GITHUB_", "RUNNER_")
"""How variables begin that the tests' own environment must not lend to the steps."""


class DepartedError(AssertionError):
    """The action does what GitHub refuses."""


@dataclass
class Repository:
    """What the jobs of a repository share."""

    folder: Path
    caches: dict[str, Path] = field(default_factory=dict)
    """Kept folders by their keys, the oldest first."""

    def restore(self, given: Mapping[str, str]) -> None:
        found = [key for key in self.caches if key == given["key"] or key.startswith(given["restore-keys"])]
        if found:
            shutil.copytree(self.caches[found[-1]], given["path"])

    def save(self, given: Mapping[str, str]) -> None:
        kept = self.folder / f"cache-{len(self.caches)}"
        self.caches[given["key"]] = Path(shutil.copytree(given["path"], kept))


@dataclass
class Used:
    """What one use of the action left."""

    failed: bool
    outputs: dict[str, str]
    log: str
    summary: str

    @property
    def commands(self) -> list[str]:
        """The lines and parts of lines of the log that the runner takes for commands."""
        found: list[str] = []
        until = ""
        for line in self.log.splitlines():
            text = line.lstrip()
            if until:
                until = "" if text == f"::{until}::" else until
            elif stopped := re.fullmatch(r"::stop-commands::(\S+)", text):
                until = stopped[1]
            elif text.startswith("::"):
                found.append(text)
            elif "##[" in line:
                found.append(line[line.index("##[") :])
        if until:
            raise DepartedError("commands stay stopped after the step")
        return found


class Job:
    """A job `conformance` of a run of a workflow: its working folder, its temporary folder, its caller's path."""

    def __init__(self, repository: Repository, run: str, base_ref: str = "", ref_name: str = "main") -> None:
        self.repository = repository
        self.github = {"base_ref": base_ref, "ref_name": ref_name, "run_id": run, "run_attempt": "1"}
        self.strategy = {"job-index": 0, "job-total": 1}
        self.artifacts: dict[str, set[str]] = {}
        """The files of each artefact; the jobs of a matrix share it."""
        self.folder, self.temporary = repository.folder / run, repository.folder / f"{run}.tmp"
        self.folder.mkdir()
        self.temporary.mkdir()
        self.variables = {"PATH": os.environ["PATH"]}

    def use(self, **inputs: str) -> Used:
        """Run all steps with these inputs."""
        inputs = {name: described.get("default", "") for name, described in ACTION["inputs"].items()} | inputs
        contexts: dict[str, Any] = {"inputs": inputs, "github": self.github, "strategy": self.strategy, "steps": {}}
        used = Used(False, {}, "", "")
        for step in ACTION["runs"]["steps"]:
            condition = step.get("if", "")
            if (used.failed and "always()" not in condition) or (condition and not evaluate(condition, contexts)):
                continue
            outputs = self._run(step, contexts, used) if "run" in step else self._action(step, contexts)
            contexts["steps"][step.get("id", "")] = {"outputs": outputs}
        used.outputs = {name: filled(output["value"], contexts) for name, output in ACTION["outputs"].items()}
        return used

    def _run(self, step: Mapping[str, Any], contexts: Mapping[str, Any], used: Used) -> dict[str, str]:
        assert step["shell"] == "bash"
        files = {name: self.temporary / f"file-{name}" for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        script = self.temporary / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        own = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        done = subprocess.run(  # noqa: S603 - our own steps
            ["/usr/bin/env", "bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.folder,
            env=own
            | self.variables
            | {"RUNNER_TEMP": str(self.temporary), "GITHUB_JOB": "conformance", "GITHUB_ACTION_PATH": str(ROOT)}
            | {name: str(file) for name, file in files.items()}
            | {name: filled(value, contexts) for name, value in step.get("env", {}).items()},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )
        used.log += done.stdout
        used.summary += files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
        used.failed = used.failed or done.returncode != 0
        return read_variables(files["GITHUB_OUTPUT"])

    def _action(self, step: Mapping[str, Any], contexts: Mapping[str, Any]) -> dict[str, str]:
        given = {name: filled(value, contexts) for name, value in step["with"].items()}
        name = step["uses"].partition("@")[0]
        if name == "actions/setup-python":
            if given["update-environment"] is not False:
                raise DepartedError("actions/setup-python changes the caller's Python")
            base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
            return {"python-path": str(base)}
        if name == "actions/cache/restore":
            self.repository.restore(given)
        elif name == "actions/cache/save":
            self.repository.save(given)
        elif name == "actions/upload-artifact":
            self._upload(given)
        else:
            raise DepartedError(f"nothing stands in for {name}")
        return {}

    def _upload(self, given: Mapping[str, str]) -> None:
        name, folder = given["name"], self.folder / given["path"]
        if name in self.artifacts:
            raise DepartedError(f"409: an artefact of the name {name} exists")
        if not name or re.search(r'[":<>|*?\r\n\\/]', name):
            raise DepartedError(f"{name!r} is no name of an artefact")
        self.artifacts[name] = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def read_variables(file: Path) -> dict[str, str]:
    """Lines ``name=value``, as GitHub reads the outputs of a step; a later line counts."""
    lines = file.read_text(encoding="utf-8").splitlines()
    broken = [line for line in lines if not re.match(r"[A-Za-z_]+=", line)]
    assert not broken, broken
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def filled(value: Any, contexts: Mapping[str, Any]) -> Any:
    """A value with its expressions evaluated."""
    if not isinstance(value, str):
        return value
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: str(evaluate(found[1], contexts)), value)


def evaluate(expression: str, contexts: Mapping[str, Any]) -> Any:
    """The value of an expression; what a context does not have is empty."""
    code, place = "", 0
    expression = expression.strip()
    while place < len(expression):
        token = TOKEN.match(expression, place)
        if token is None:
            raise DepartedError(f"the tests do not know the expression {expression[place:]!r}")
        operator, text, always, name = token.groups()
        if operator:
            code += OPERATORS.get(operator, operator)
        else:
            code += "True" if always else repr(_of(name, contexts) if name else text)
        place = token.end()
    return eval(code, {"__builtins__": {}})  # noqa: S307 - made of the tokens above


def _of(name: str, contexts: Mapping[str, Any]) -> Any:
    value: Any = contexts
    for part in name.split("."):
        value = value.get(part, "") if isinstance(value, Mapping) else ""
    return value
