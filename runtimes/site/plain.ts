/** Creates environments without WordPress: PHP, a placeholder page, and an empty database. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ReleaseFacts } from "./release.ts";
import type { SiteDatabase } from "./siteDatabase.ts";

export const plainFacts: ReleaseFacts = { wordpressVersion: null, multisite: null, core: null };

const page = (databaseNote: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Ready for your files</title>
</head>
<body>
<h1>This environment is ready for your files</h1>
<p>It runs PHP <?php echo htmlspecialchars( PHP_VERSION ); ?>. Replace this page, <code>index.php</code>, with your own.</p>
<p>${databaseNote}</p>
</body>
</html>
`;

/** Fills a new release with its web root and its database. */
export async function layOutPlain(release: string, database: SiteDatabase): Promise<void> {
  const webRoot = path.join(release, "public");
  await mkdir(webRoot, { recursive: true });
  await writeFile(path.join(webRoot, "index.php"), page(database.plainNote), { flush: true });
  await database.createPlain(path.join(release, "database"));
}
