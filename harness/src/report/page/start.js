// Fills the frame of the page, and shows what the address asks for.

/** The links to the views that this report has. */
function startViews() {
  const views = [['#overview', 'Overview'], ['#requirements', 'Requirements']];
  if (SCENARIOS.length > 0) views.push(['#scenarios', IS_RUN ? 'Scenarios' : 'Recordings']);
  if (DIFFERENCES.length > 0) views.push(['#differences', 'Differences']);
  document.getElementById('views').append(...views.map(([href, words]) => make('a', { href }, words)));
}

startTheme();
startKeys();
startViews();
addEventListener('hashchange', () => follow());
follow({ first: true });
document.body.dataset.started = 'yes';
