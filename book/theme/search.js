// Search results name a page once: mdBook writes its title as that of the chapter, and again as that of its first heading.
(() => {
  'use strict';

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
