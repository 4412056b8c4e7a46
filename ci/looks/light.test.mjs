// Every page in the light theme, on a wide screen.

import { isAccessible } from '../accessible.mjs';

isAccessible('light', [320, 1440]);
