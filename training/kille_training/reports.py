"""The report of a training run, a tournament or a comparison of seeds, from Python."""

from pathlib import Path

from kille_training.arena.seeds import SeedComparison
from kille_training.arena.tournament import Folder
from kille_training.learn.runs import Run, measure_run
from kille_training.progress import Progress


def report(
    run: Run | SeedComparison | Path | str,
    out: Path | str | None = None,
    *,
    progress: Progress | None = None,
) -> Path:
    """Writes the report of a run, a tournament or a comparison of seeds: one HTML page.

    The page needs no other files. A finished run that has not been measured is measured first.

    Example:
        >>> import kille_training as kt
        >>> entrants = ["rule_of_thumb", "uniform"]
        >>> found = kt.play_tournament(entrants, "knack", num_players=2, deals=5, out="runs/two")
        >>> kt.report("runs/two").name
        'report.html'

    Args:
        run: The run, or the folder of a run or a tournament; or what `compare_seeds` returned.
        out: The page's file; None is report.html in that folder.
        progress: Called with how far it is, for a run.

    Returns:
        Where the page is.

    Raises:
        KilleError: The folder is neither, its run is not finished, nothing has been played, or
            the page cannot be written.
    """
    page = None if out is None else Path(out)
    if isinstance(run, SeedComparison):
        from kille_training.arena.seeds_page import write_seeds_page

        return write_seeds_page(run, page)
    path = run.folder if isinstance(run, Run) else Path(run)
    folder = Folder(path)
    if folder.results.is_file():
        from kille_training.arena.page import write_tournament_page

        return write_tournament_page(folder, page)
    from kille_training.learn.page import write_run_page

    measure_run(Run(path), progress)
    return write_run_page(Run(path), page)
