// The other pages in the dark theme, on a phone; by `ci/test --nightly` every page.

import { isAccessible } from '../accessible.mjs';

isAccessible('navy', 390, 1);
