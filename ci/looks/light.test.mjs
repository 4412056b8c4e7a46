// Every page in the light theme, on a wide screen.

import { isAccessible } from '../accessible.mjs';

isAccessible('light', 1440);
