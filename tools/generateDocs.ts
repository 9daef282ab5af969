/** Writes the generated parts of the documents (`npm run gen`). A test checks that they are up to date. */
import { writeFileSync } from "node:fs";
import { generatedDocuments } from "./generatedDocuments.ts";

for (const [file, text] of generatedDocuments()) writeFileSync(file, text);
