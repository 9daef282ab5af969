/** Certificates and their keys, as files for the edge. */
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readEdgeCertificate } from "../edgeCertificate.ts";
import { makeSealer } from "../sealing.ts";
import { addCertificate, type PresentedCertificate } from "../store/domains/certificates.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { silentLog } from "../testing/engine.ts";
import { certificateFolder, makeCertificateFiles } from "./certificateFiles.ts";

const sealer = makeSealer(Buffer.alloc(32, "key of the tests"));
let own: TestDatabase;
let dataFolder: string;
beforeEach(async () => {
  own = await createTestDatabase();
  dataFolder = await mkdtemp(join(tmpdir(), "swfiles-"));
});
afterEach(async () => {
  await own.drop();
  await rm(dataFolder, { recursive: true, force: true });
});

const opened = () => makeCertificateFiles({ database: own.database, dataFolder, sealer, log: silentLog });
const folder = () => certificateFolder(dataFolder);

/** Adds a certificate. Its key is sealed for `sealedFor`, or for the certificate itself. */
async function add(sealedFor = ""): Promise<PresentedCertificate> {
  const { companyId } = await addCompany(own.database);
  const { environmentId } = await addSite(own.database, companyId);
  const id = randomUUID();
  const notAfter = new Date(4_000_000_000_000);
  const certificate = { names: ["a.example"], chain: "the chain", notBefore: new Date(0), notAfter, fingerprint: id };
  const keySealed = sealer.seal("the key", `certificate:${sealedFor || id}`);
  await own.database
    .transaction()
    .execute((transaction) =>
      addCertificate(transaction, { id, companyId, environmentId, source: "acme", certificate, keySealed }),
    );
  return { id, environmentId, names: certificate.names, notAfter };
}

const published = ({ id, names, notAfter }: PresentedCertificate) => ({ id, names, notAfter: notAfter.getTime() });

describe("write", () => {
  test("seals the files, which only their owner can read and the edge can open", async () => {
    const certificate = await add();
    expect(await opened().write([certificate])).toEqual([published(certificate)]);
    const file = join(folder(), certificate.id);
    expect((await readFile(file)).includes("the key")).toBe(false);
    expect((await stat(folder())).mode & 0o077).toBe(0);
    expect(await readEdgeCertificate(folder(), certificate.id, sealer)).toEqual({ key: "the key", chain: "the chain" });
  });

  test("keeps a file that exists", async () => {
    const certificate = await add();
    await opened().write([certificate]);
    const { ino } = await stat(join(folder(), certificate.id));
    expect(await opened().write([certificate])).toEqual([published(certificate)]);
    expect((await stat(join(folder(), certificate.id))).ino).toBe(ino);
  });

  test("skips certificates that were removed or can't be opened, and writes the others", async () => {
    const [whole, broken] = [await add(), await add("another certificate")];
    const gone = { ...whole, id: randomUUID() };
    expect(await opened().write([broken, gone, whole])).toEqual([published(whole)]);
    expect(await readdir(folder())).toEqual([whole.id]);
  });

  test("creates no folder if there is nothing to write", async () => {
    expect(await opened().write([])).toEqual([]);
    await expect(stat(folder())).rejects.toThrow("ENOENT");
  });
});

describe("removeOthers", () => {
  test("removes files of removed certificates, and temporary files", async () => {
    const [kept, removed] = [await add(), await add()];
    await opened().write([kept, removed]);
    await own.database.deleteFrom("certificates").where("id", "=", removed.id).execute();
    await writeFile(join(folder(), `${removed.id}.left-over`), "");
    await opened().removeOthers([published(kept)]);
    expect(await readdir(folder())).toEqual([kept.id]);
  });

  test("keeps files that another process may be about to publish", async () => {
    const certificate = await add();
    await opened().write([certificate]);
    await opened().removeOthers([]);
    expect(await readdir(folder())).toEqual([certificate.id]);
  });
});

describe("the edge refuses a file", () => {
  test("that was sealed for another certificate, or has other content", async () => {
    const [one, other] = [await add(), await add()];
    await opened().write([one, other]);
    await writeFile(join(folder(), other.id), await readFile(join(folder(), one.id)));
    await expect(readEdgeCertificate(folder(), other.id, sealer)).rejects.toThrow();
    await writeFile(join(folder(), other.id), sealer.seal("{}", `edge-certificate:${other.id}`));
    await expect(readEdgeCertificate(folder(), other.id, sealer)).rejects.toThrow("has no key or chain");
    await expect(readEdgeCertificate(folder(), "../secrets", sealer)).rejects.toThrow("letters, digits and hyphens");
  });
});
