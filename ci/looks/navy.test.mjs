// Every page in the dark theme, on a phone.

import { isAccessible } from '../accessible.mjs';

isAccessible('navy', 390);
