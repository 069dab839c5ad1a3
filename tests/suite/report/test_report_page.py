"""The report as a page: what it shows, that nothing of the node's runs in it, and that everybody can read it."""

from __future__ import annotations

import base64
import hashlib
import html as escaping
import re
from dataclasses import replace
from pathlib import Path

import pytest
from browser import DARK, WIDTHS, browsed, outside, violations
from made_runs import EXCHANGE, FAILED, PASSED, outcome, results

from conformance.profile import Profile
from conformance.report import Results
from conformance.report.judgement import MEANINGS, Judgement
from conformance.report.page import html
from conformance.report.page.render import MOST_CHARACTERS
from conformance.report.terminal import COLUMNS
from conformance.requirements import catalogue
from conformance.requirements.families import FAMILIES
from conformance.verdict import CellOutcome, CellVerdict, Failure, Outcome, Verdict

HOSTILE = "</pre></script><script>document.title = 'taken'</script><img src=http://evil/ onerror=alert(1)>"


def hostile() -> Outcome:
    exchange = replace(EXCHANGE, response_body=HOSTILE, response_headers={"X": HOSTILE}, curl=f"curl '{HOSTILE}'")
    return replace(FAILED, reason=HOSTILE, failure=Failure(HOSTILE, HOSTILE, HOSTILE, exchange))


def matrix() -> Outcome:
    words = {CellVerdict.GRANTED: True, CellVerdict.REFUSED: False, CellVerdict.WRONG: False}
    cells = [
        CellOutcome(
            f"{key}/this/{wallet}/1", words[verdict], verdict, "the rule", "it ran" if verdict == "wrong" else ""
        )
        for key in ("account", "usage-this")
        for wallet, verdict in zip(("this", "other", "none"), words, strict=True)
    ]
    return replace(outcome("p::a", Verdict.FAIL, "A-010"), cells=tuple(cells))


def test_page_leads_from_the_verdict_to_the_request_that_shows_it() -> None:
    made = results(PASSED, FAILED)
    page = html(made)
    assert "<strong>Does not conform</strong>" in page
    assert escaping.escape(made.sentence) in page
    for shown in ("The node counts.", "steps[1] call x", "a [b] list", "curl http://n/x", "--case p::b"):
        assert shown in page
    assert hashlib.sha256(made.content).hexdigest() in page
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(re.findall(r'id="([^"]+)"', page))


def test_page_lists_what_was_not_judged_by_the_reason() -> None:
    unclear = replace(outcome("p::a", Verdict.INCONCLUSIVE, "A-010"), reason="nobody listens")
    page = html(results(unclear))
    part = page[page.index("<h2>What was not judged</h2>") : page.index("<h2 id=")]
    told = re.findall(r'<span class="chip [^"]*">([^<]+)</span> (\d+): ([^<]+)</summary>', part)
    assert ("inconclusive", "2", "nobody listens") in told
    assert ("not run", "1", "the run selected no case about it") in told
    assert ("not yet covered", "1", "needs a run") in told
    assert re.findall(r'href="#([^"]+)"', part).count("A-010") == 1


def test_page_tells_a_failure_as_the_terminal_does() -> None:
    ids = Failure(
        "steps[2] list list_groups", "[1, 2] of list_groups", "[1]", EXCHANGE, hint="the profile states wire.x"
    )
    page = html(results(replace(FAILED, failure=ids)))
    assert "<dt>Missing</dt><dd>[2]</dd>" in page
    assert "<dt>Hint</dt><dd>the profile states wire.x</dd>" in page


def test_page_shows_what_the_profile_says_apart_from_what_was_assumed() -> None:
    profile = Profile.model_validate({"brand": {"title": HOSTILE}}).assuming(frozenset({"brand.slug"}))
    page = html(results(PASSED, profile=profile))
    said, assumed = re.findall(r'<div class="inner"><pre tabindex="0">(.*?)</pre>', page, re.DOTALL)[:2]
    assert assumed == "brand:\n  slug: service\n"
    assert "slug: service" not in said
    assert "title: &lt;/pre&gt;" in said


def test_page_draws_a_matrix_as_a_table() -> None:
    page = html(results(matrix()))
    assert '<td class="mark wrong" title="account/this/none/1: refused, the rule; got it ran">WRONG</td>' in page
    assert page.count('<th scope="row">usage-this</th>') == 1


@pytest.mark.parametrize("kind", ["style", "script"])
def test_policy_names_the_pages_own_style_and_script_alone(kind: str) -> None:
    page = html(results(PASSED))
    content = re.search(rf"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
    assert content is not None
    digest = base64.b64encode(hashlib.sha256(content[1].encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert f"{kind}-src 'sha256-{digest}'" in escaping.unescape(policy[1])


def test_long_bodies_are_cut_and_said_to_be() -> None:
    exchange = replace(EXCHANGE, response_body="x" * (MOST_CHARACTERS + 5))
    page = html(results(replace(FAILED, failure=Failure("s", "e", "g", exchange))))
    assert "x… (5 more characters; results.json has them)" in page


def written(page: str, folder: Path) -> Path:
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    return file


def test_filters_work_and_nothing_of_the_node_runs_in_a_browser(tmp_path: Path) -> None:
    shown = browsed(written(html(results(PASSED, hostile())), tmp_path), tmp_path)
    assert re.search(r"<output[^>]*>4 of 5 statements shown</output>", shown)
    assert "<title>Does not conform: http://n</title>" in shown


@pytest.mark.parametrize("flags", [(), (DARK,)], ids=["light", "dark"])
def test_axe_finds_nothing_on_the_page(tmp_path: Path, flags: tuple[str, ...]) -> None:
    page = html(results(matrix(), FAILED, replace(hostile(), case="p::c"), outcome("p::d", Verdict.INCONCLUSIVE)))
    assert violations(written(page, tmp_path), tmp_path, *flags) == []


LISTINGS = ("this", "other", "both", "wildcard", "none")
CUT = """
const cut = [...document.querySelectorAll(".scroll")].filter((part) => part.scrollWidth > part.clientWidth);
document.title = `${innerWidth} wide, ${cut.length} cut`;
"""


def whole_matrix() -> Outcome:
    cells = [
        CellOutcome(f"other_usage-several/{action}/{wallet}/1", False, CellVerdict.REFUSED, "the rule")
        for action in LISTINGS
        for wallet in LISTINGS
    ]
    return replace(outcome("p::a", Verdict.PASS, "A-010"), cells=tuple(cells))


def test_every_column_is_in_sight(tmp_path: Path) -> None:
    page = re.sub(r"<meta http-equiv=[^>]*>", "", html(results(whole_matrix(), FAILED)))
    looking = page.replace("</body>", f"<script>{CUT}</script></body>")
    shown = browsed(written(looking, tmp_path), tmp_path, "--window-size=1100,900")
    assert "<title>1100 wide, 0 cut</title>" in shown


DIGEST = "0x" + "ab" * 32


def long_words() -> Results:
    """A run whose failure, reason and case hold long words without a place to break."""
    exchange = replace(EXCHANGE, response_body=DIGEST * 20, curl=f"curl http://n/{DIGEST * 3}")
    failure = Failure(f"steps[3] call {DIGEST}", f"the list to be [{DIGEST * 2}]", DIGEST * 5, exchange)
    failed = replace(FAILED, case=f"{'long_' * 12}::{'name-' * 14}", reason=f"expected {DIGEST * 2}", failure=failure)
    return results(whole_matrix(), matrix(), replace(failed, case="p::b"), failed, replace(hostile(), case="p::c"))


@pytest.mark.parametrize("printed", [False, True], ids=["screen", "print"])
def test_text_stays_inside_of_its_cell_and_paragraph(tmp_path: Path, *, printed: bool) -> None:
    page = written(html(long_words()), tmp_path)
    assert outside(page, tmp_path, printed=printed) == []


def test_measurement_finds_text_that_leaves_its_cell(tmp_path: Path) -> None:
    page = html(results(PASSED, base_url="http://" + "n" * 200)).replace("overflow-wrap: anywhere", "")
    found = outside(written(page, tmp_path), tmp_path)
    assert all(any(one.startswith(f"at {width} px H1") for one in found) for width in WIDTHS), found


def test_page_says_what_is_not_offered_beside_the_verdict_and_what_verdicts_mean() -> None:
    page = html(results(PASSED, outcome("p::b", Verdict.NOT_OFFERED, "A-020")))
    assert "Not offered by the profile, so not judged: A " in page
    assert "the profile does not claim what its checks need" in page


def test_verdicts_stand_in_the_same_order_everywhere_the_worst_first() -> None:
    assert next(iter(MEANINGS)) is Judgement.FAIL
    assert {*MEANINGS} == {*Judgement}
    assert [judgement for judgement, _ in COLUMNS] == [one for one in MEANINGS if one is not Judgement.NOT_JUDGED]


def test_every_family_has_a_title() -> None:
    assert [*FAMILIES] == [*catalogue().families]


def test_paper_gets_the_summary_unless_all_is_asked_for(tmp_path: Path) -> None:
    page = html(results(PASSED, FAILED)).replace("@media print", "@media all")
    page = re.sub(r"<meta http-equiv=[^>]*>", "", page)
    count = "document.querySelector('.on-demand').getClientRects().length"
    script = f"const summary = {count}; document.getElementById('print-all').click();"
    script += f" document.title = `summary ${{summary}}, all ${{{count}}}`"
    looking = page.replace("</body>", f"<script>{script}</script></body>")
    assert "<title>summary 0, all 1</title>" in browsed(written(looking, tmp_path), tmp_path)
