/** Creates environments without WordPress: PHP, a placeholder page, and an empty database. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { databaseFolder } from "../php/folders.ts";
import { mainDatabase, type ReleaseFacts } from "./release.ts";

export const plainFacts: ReleaseFacts = { wordpressVersion: null, multisite: null, core: null };

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Ready for your files</title>
</head>
<body>
<h1>This environment is ready for your files</h1>
<p>It runs PHP <?php echo htmlspecialchars( PHP_VERSION ); ?>. Replace this page, <code>index.php</code>, with your own.</p>
<p>An empty SQLite database is at <code>${databaseFolder}/${mainDatabase(plainFacts)}</code>.</p>
</body>
</html>
`;

/** Fills a new release with its web root and its database. */
export async function layOutPlain(release: string): Promise<void> {
  for (const name of ["public", "database"]) await mkdir(path.join(release, name), { recursive: true });
  await writeFile(path.join(release, "public", "index.php"), page, { flush: true });
  const database = new DatabaseSync(path.join(release, "database", mainDatabase(plainFacts)));
  try {
    // Otherwise the file would be empty, and could not be recognised as a database.
    database.exec("VACUUM");
  } finally {
    database.close();
  }
}
