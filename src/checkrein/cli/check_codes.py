"""`checkrein check --explain` and `--list`: what codes mean."""

from __future__ import annotations

from collections.abc import Sequence

from checkrein.cli.registry import Outcome


def explain(code: str) -> Outcome:
    from checkrein.base.errors import NotFoundError
    from checkrein.base.nearest import did_you_mean
    from checkrein.passes.codes import documentation, page_of, pages
    from checkrein.passes.extensions import installed_checks

    page = documentation(code.upper())
    if page is None:
        added = installed_checks().added
        page = next((page_of(one.value) for one in added if one.name == code.upper()), None)
    if page is None:
        raise NotFoundError(
            f"There is no code {code}.{did_you_mean(code.upper(), pages())}",
            kind="code_not_found",
            hint="`checkrein check --list` names all codes.",
        )

    def text() -> str:
        from checkrein.cli import check_text

        return check_text.page(page)

    return Outcome(data=page, text=text)


def listing(select: Sequence[str], ignore: Sequence[str]) -> Outcome:
    from checkrein.cli.check import Listed
    from checkrein.passes.codes import page_of, pages
    from checkrein.passes.extensions import installed_checks
    from checkrein.passes.findings import wanted

    every = {**pages(), **{one.name: page_of(one.value) for one in installed_checks().added}}
    chosen = tuple(page for code, page in sorted(every.items()) if wanted(code, select, ignore))

    def text() -> str:
        from checkrein.cli import check_text

        return check_text.codes(chosen)

    return Outcome(data=Listed(chosen), text=text)
