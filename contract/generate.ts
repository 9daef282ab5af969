/** Writes `openapi.json` and the console's types, which are committed. Run by `npm run gen`; tests fail if they are out of date. */
import { writeFileSync } from "node:fs";
import { clientTypes, clientTypesFile } from "./clientTypes.ts";
import { openApiDocument } from "./openapi.ts";

writeFileSync(new URL("openapi.json", import.meta.url), `${JSON.stringify(openApiDocument(), null, 2)}\n`);
writeFileSync(clientTypesFile, await clientTypes());
