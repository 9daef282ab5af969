/** Writes the generated parts of the documents: `npm run gen`. Tests prove that they are fresh. */
import { writeFileSync } from "node:fs";
import { generatedDocuments } from "./generatedDocuments.ts";

for (const [file, text] of generatedDocuments()) writeFileSync(file, text);
