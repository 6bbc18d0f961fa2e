/** An address that names an operation or a record of the reference opens it; without this module it leads to its line. */

function openNamed(): void {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(named instanceof HTMLDetailsElement)) return;
  named.open = true;
  named.scrollIntoView();
}

window.addEventListener("hashchange", openNamed);
openNamed();

export {};
