/** Writes `openapi.json`, which is committed: `npm run gen`. A test proves that it is fresh. */
import { writeFileSync } from "node:fs";
import { openApiDocument } from "./openapi.ts";

writeFileSync(new URL("openapi.json", import.meta.url), `${JSON.stringify(openApiDocument(), null, 2)}\n`);
