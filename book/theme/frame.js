// What mdBook's frame lacks: a link past the sidebar, and results of a search that name a page once.
(() => {
  'use strict';

  const text = document.querySelector('main');
  if (text) {
    text.tabIndex = -1;
    const skip = document.createElement('a');
    skip.className = 'skip';
    skip.href = '#';
    skip.textContent = 'Skip to the text';
    skip.onclick = (event) => {
      event.preventDefault();
      text.focus();
    };
    document.body.prepend(skip);
  }

  // mdBook writes a page's title as that of the chapter, and again as that of its first heading.
  const results = document.querySelector('#mdbook-searchresults, #searchresults');
  if (!results) return;
  const nameOnce = () => {
    for (const link of results.querySelectorAll('a')) {
      const names = link.textContent.split(' » ');
      const once = names.filter((name, place) => name !== names[place - 1]);
      if (once.length < names.length) link.textContent = once.join(' » ');
    }
  };
  new MutationObserver(nameOnce).observe(results, { childList: true });
})();
