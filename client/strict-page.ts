import { config } from 'zod';

// The page's content policy forbids code made from text, which zod would otherwise try in order to be faster.
config({ jitless: true });
