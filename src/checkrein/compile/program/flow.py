"""The Python of a pipeline: one function for each step, gate and choice, and the program that calls them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkrein.compile.elements import shorten
from checkrein.compile.literals import comment, one_line
from checkrein.compile.program.draw import Program
from checkrein.compile.program.gate_places import Gate
from checkrein.compile.steps import Step

INDENT = "    "
_FORMS = {"verdict": "Verdict", "outcome": "Outcome", "attempt": "Outcome"}


def annotation(step: Step, data: str | None) -> str:
    """The type of what a step gives."""
    if step.result == "items":
        return "list[str]"
    if step.result in ("record", "verdict") and step.record is not None:
        return step.record.name
    if step.result == "records" and step.record is not None:
        return f"list[{step.record.name}]"
    if step.result == "label":
        return alias(step)
    if step.result == "consent":
        return "bool"
    if step.result == "report":
        return data or "str"
    return _FORMS.get(step.result, "str")


def alias(step: Step) -> str:
    """The name of the type of a label or a way."""
    return f"{'Way' if step.ways else 'Label'}{step.short}"


class Flow:
    """Writes the functions and the program. `final` is left out of the program: a stream yields it. With
    `acts` the package has tools: work that is not done ends the run, as the rest would build on nothing."""

    def __init__(self, program: Program, data: str | None, *, final: str = "", acts: bool = False) -> None:
        self.program = program
        self.acts = acts
        self.data = data
        self.final = final
        self.steps = (*program.steps, *((program.closing,) if program.closing is not None else ()))
        self.by_name = {step.function: step for step in self.steps}
        self.repeated = {step.again for step in self.steps if step.again}
        if program.checks is not None:
            self.repeated.add(program.answer.function)

    # --- functions

    def functions(self) -> list[str]:
        found: list[str] = []
        if self.program.topics:
            found.append(
                _function(
                    "choose_topics",
                    "run: Run",
                    "list[Topic]",
                    "Which chapters the request is about",
                    ["return run.topics()"],
                )
            )
        if self.program.procedures:
            found.append(
                _function(
                    "choose_procedures",
                    "run: Run",
                    "list[ProcedureName]",
                    "Which procedures the request calls for",
                    ["return run.procedures()"],
                )
            )
        for gate in self.program.gates:
            found.append(self._gate(gate))
        for step in self.steps:
            found += self._step(step)
        if self.program.checks is not None:
            name = self.program.checks.name
            body = _call(
                "run.form",
                [one_line("check_answer"), one_line("VALIDATE_OUTPUT"), "config.CHECK_ANSWER", name],
            )
            found.append(_function("check_answer", "run: Run", name, "The last look at the answer", body))
        return found

    def _gate(self, gate: Gate) -> str:
        before = gate.before or "the end"
        constant = f"config.{gate.function.upper()}"
        if gate.questions:
            body = _call("run.questions", [one_line(gate.function), constant])
            return _function(
                gate.function, "run: Run", "list[str]", f"What a person must be asked before {before}", body
            )
        body = _call("run.confirm", [one_line(gate.function), constant])
        return _function(gate.function, "run: Run", "bool", f"A person decides before {before}", body)

    def _step(self, step: Step) -> Iterator[str]:
        if step.over.startswith("items_"):
            body = _call(
                "run.listed", [one_line(step.over), f"config.ITEMS_{step.short}", f"config.{step.constant}"]
            )
            yield _function(step.over, "run: Run", "list[str]", f"Every {step.each} of the request", body)
        if step.holds:
            name = f"holds_{step.short}"
            body = _call("run.holds", [one_line(name), f"config.HOLDS_{step.short}"])
            yield _function(name, "run: Run", "bool", f"Whether {step.function} is to be done", body)
        if step.ways:
            name = f"choose_{step.short}"
            body = [
                "from . import slots",
                "",
                *_call("run.fill", [one_line(name), one_line("CLASSIFY"), f"slots.{step.slot or name}"]),
            ]
            yield _function(name, "run: Run", alias(step), f"Which case of {step.function} it is", body)
        yield _function(
            step.function, self._signature(step), self._returns(step), _doc(step), self._body(step)
        )

    def _returns(self, step: Step) -> str:
        return "Iterator[str]" if step.function == self.final else annotation(step, self.data)

    def _signature(self, step: Step) -> str:
        found = ["run: Run"]
        if step.over:
            listed = self.by_name.get(step.over)
            found.append(f"item: {listed.record.name if listed is not None and listed.record else 'str'}")
        if step.ways:
            found.append(f"way: {alias(step)}")
        if step.function == self.program.answer.function and self.program.topics:
            found.append("topics: list[Topic]")
        if step.function in self.repeated:
            found.append("findings: Sequence[str] = ()")
        return ", ".join(found)

    def _body(self, step: Step) -> list[str]:
        name, text = one_line(step.function), f"config.{step.constant}"
        if step.asks:
            method = "run.confirm" if step.result == "consent" else "run.ask"
            return _call(method, [name, text])
        arguments = [name, one_line(step.tag)]
        if step.slot is not None and not step.ways and step.function != self.final:
            arguments.append(f"slots.{step.slot}")
            return ["from . import slots", "", *_call("run.fill", [*arguments, *self._told(step)])]
        arguments.append(f"config.WAYS_{step.short}[way]" if step.ways else text)
        form = (
            annotation(step, self.data) if step.result in ("verdict", "outcome", "attempt", "report") else ""
        )
        method = "run.stream" if step.function == self.final else "run.form" if form else "run.write"
        return _call(
            method, [*arguments, *([form] if form and method == "run.form" else []), *self._told(step)]
        )

    def _told(self, step: Step) -> list[str]:
        found = [one_line(name) for name in step.sections]
        if step.function == self.program.answer.function and self.program.topics:
            found.append("*topics")
        found += ["item=item"] if step.over else []
        return [*found, *(["findings=findings"] if step.function in self.repeated else [])]

    # --- the program

    def lines(self, steps: Sequence[Step]) -> list[str]:
        """The calls of some steps in order."""
        found: list[str] = []
        for step in steps:
            found += self._gated(step.function)
            if step.function == self.final:
                continue
            found += self._called(step)
        return found

    def after(self) -> list[str]:
        """What comes after the last step."""
        found = self._gated("")
        if self.program.closing is not None and self.program.closing.function != self.final:
            found += self._called(self.program.closing)
        if self.program.checks is not None:
            found += [
                "checks = check_answer(run)",
                "if not checks.passed:",
                f"{INDENT}{self._again(self.program.answer, 'checks')}",
            ]
        return found

    def _again(self, step: Step, checked: str) -> str:
        topics = "topics, " if self.program.topics and step.function == self.program.answer.function else ""
        return f"{step.function}(run, {topics}{checked}.findings)"

    def _gated(self, before: str) -> list[str]:
        found: list[str] = []
        for gate in self.program.gates:
            if gate.before != before:
                continue
            if gate.questions:
                found += [
                    f"for question in {gate.function}(run):",
                    f"{INDENT}run.ask({one_line(gate.function)}, question)",
                ]
            else:
                found += [f"if not {gate.function}(run):", f"{INDENT}run.stop({one_line(gate.function)})"]
        return found

    def _called(self, step: Step) -> list[str]:
        lines = self._one(step)
        if step.over:
            listed = self._variable(step.over)
            start = [f"{listed} = {step.over}(run)"] if step.over.startswith("items_") else []
            lines = [*start, f"for item in {listed}:", *_indented(lines)]
        if step.when is not None:
            return [f"if {self._variable(step.when[0])} == {one_line(step.when[1])}:", *_indented(lines)]
        if step.holds:
            return [f"if holds_{step.short}(run):", *_indented(lines)]
        return lines

    def _one(self, step: Step) -> list[str]:
        name, variable = one_line(step.function), self._variable(step.function)
        arguments = ["run", *(["item"] if step.over else [])]
        lines: list[str] = []
        if step.ways:
            lines.append(f"way_{step.short} = choose_{step.short}(run)")
            arguments.append(f"way_{step.short}")
        if step.function == self.program.answer.function and self.program.topics:
            arguments.append("topics")
        call = f"{step.function}({', '.join(arguments)})"
        if step.result == "consent":
            return [f"if not {call}:", f"{INDENT}run.stop({name})"]
        if step.result == "outcome":
            then = "stop" if self.acts else "leave"
            return [
                f"{variable} = {call}",
                f"if not {variable}.done:",
                f"{INDENT}run.{then}({name}, {variable}.result)",
            ]
        if step.result == "attempt":
            return [
                "for _ in range(config.MAX_REMEDIATION_ITERATIONS):",
                f"{INDENT}{variable} = {call}",
                f"{INDENT}if {variable}.done:",
                f"{INDENT * 2}break",
                "else:",
                f"{INDENT}run.fail({name}, [{variable}.result])",
            ]
        if step.result == "verdict":
            return self._checked(step, call, variable)
        if step.result == "report":
            return [
                f"{variable} = {call}",
                f"for gap in gaps({variable}):",
                f'{INDENT}run.leave({name}, f"{{gap}} is empty")',
            ]
        if step.result in ("items", "records"):
            return [
                f"{variable} = {call}",
                f"if not {variable}:",
                f'{INDENT}run.leave({name}, "nothing was found")',
            ]
        if step.result == "label":
            return [f"{variable} = {call}"] if self._is_used(step) else [call]
        return [*lines, call]

    def _is_used(self, step: Step) -> bool:
        return any(one.when is not None and one.when[0] == step.function for one in self.steps)

    def _checked(self, step: Step, call: str, variable: str) -> list[str]:
        name = one_line(step.function)
        made = self.by_name.get(step.again)
        if made is None:
            return [
                f"{variable} = {call}",
                f"if not {variable}.passed:",
                f"{INDENT}run.fail({name}, {variable}.findings)",
            ]
        return [
            "for _ in range(config.MAX_REMEDIATION_ITERATIONS):",
            f"{INDENT}{variable} = {call}",
            f"{INDENT}if {variable}.passed:",
            f"{INDENT * 2}break",
            f"{INDENT}{self._again(made, variable)}",
            "else:",
            f"{INDENT}run.fail({name}, {variable}.findings)",
        ]

    def _variable(self, function: str) -> str:
        step = self.by_name.get(function)
        return f"found_{step.short}" if step is not None else f"listed_{function.removeprefix('items_')}"


def _doc(step: Step) -> str:
    text = shorten(comment(" ".join(step.title.split())), 70).rstrip(".") or "A step of the spec"
    return f"{text} ({comment(step.source)})"


def _function(name: str, parameters: str, returns: str, doc: str, body: Sequence[str]) -> str:
    said = doc.replace("\\", "/").replace('"', "'")
    lines = [f"def {name}({parameters}) -> {returns}:", f'{INDENT}"""{said}."""', *_indented(body)]
    if len(lines[0]) > 110:
        inner = "".join(f"{INDENT}{one},\n" for one in parameters.split(", "))
        lines[0] = f"def {name}(\n{inner}) -> {returns}:"
    return "\n".join(lines)


def _call(method: str, arguments: Sequence[str]) -> list[str]:
    return [f"return {method}(", *(f"{INDENT}{one}," for one in arguments), ")"]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"{INDENT}{line}" if line else "" for line in lines]


def block(lines: Sequence[str]) -> str:
    """Lines of a function's body."""
    return "\n".join(_indented(lines or ["pass"]))
