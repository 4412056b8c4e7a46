// Every other page in the light theme, on a wide screen; by `ci/test --nightly` every page.

import { isAccessible } from '../accessible.mjs';

isAccessible('light', 1440, 0);
