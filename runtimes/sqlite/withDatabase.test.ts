import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withDatabase } from "./withDatabase.ts";

const extra = 3;

test("commits flush the folder that the journal was in, so that no power cut can undo them", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "database-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const settings = withDatabase(path.join(folder, "a.sqlite"), (database) =>
    database.prepare("SELECT journal_mode, synchronous FROM pragma_journal_mode, pragma_synchronous").get(),
  );
  expect(settings).toEqual({ journal_mode: "delete", synchronous: extra });
});
