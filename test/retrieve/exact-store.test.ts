import { createExactStore } from '../../server/retrieve/exact-store.js';
import { vectorStoreContract } from '../contracts/vector-store.contract.js';

vectorStoreContract('the exact store', async (dimensions) => createExactStore({ dimensions }), 1e-5);
