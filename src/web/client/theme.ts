/**
 * Runs before the first paint: applies the theme that the reader has chosen, and shows controls that only work with scripts. Not a module,
 * since modules run after the page has been painted.
 */
{
  const root = document.documentElement;
  root.dataset.scripts = "";
  try {
    const chosen = localStorage.getItem("sidereal.theme");
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  } catch {
    // The browser stores nothing: the theme follows the system.
  }
}
