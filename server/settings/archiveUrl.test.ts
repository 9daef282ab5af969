import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { openBlobs } from "../archives/openBlobs.ts";
import { startS3Server } from "../archives/testing/s3Server.ts";
import { ArchiveUrlError, archiveUrlForm, parseArchiveUrl } from "./archiveUrl.ts";

const defaultFolder = "/srv/sitewright/archives";
const simple = {
  kind: "s3",
  endpoint: "https://s3.example.com",
  bucket: "archives",
  prefix: "",
  region: null,
  accessKeyId: "AKIA",
  secretAccessKey: "QzXq",
} as const;

/** Everything that a log could show of the error. */
function shownOf(work: () => unknown): string {
  try {
    return inspect(work());
  } catch (error) {
    return inspect(error, { depth: Infinity });
  }
}

describe("an archive URL", () => {
  test.each([
    ["s3://AKIA:QzXq@s3.example.com/archives", {}],
    ["s3://AKIA:QzXq@s3.example.com/archives/", {}],
    ["S3://AKIA:QzXq@S3.Example.com:443/archives", {}],
    ["s3://AKIA:QzXq@s3.example.com:9000/archives", { endpoint: "https://s3.example.com:9000" }],
    ["s3://AKIA:QzXq@s3.example.com/archives?tls=off", { endpoint: "http://s3.example.com" }],
    ["s3://AKIA:QzXq@[::1]:3900/archives?tls=off", { endpoint: "http://[::1]:3900" }],
    ["s3://AKIA:QzXq@s3.example.com/archives?region=eu-central-1", { region: "eu-central-1" }],
    ["s3://AKIA:QzXq@s3.example.com/my.old_Bucket-2", { bucket: "my.old_Bucket-2" }],
    ["s3://AKIA:QzXq@s3.example.com/archives/sitewright", { prefix: "sitewright/" }],
    [
      "s3://AKIA:QzXq@s3.example.com/archives/a/b.c_d-1/?tls=off&region=garage",
      { prefix: "a/b.c_d-1/", region: "garage", endpoint: "http://s3.example.com" },
    ],
    ["s3://AKIA:h%2Fu%3Fs%23h%40%3A%25@s3.example.com/archives", { secretAccessKey: "h/u?s#h@:%" }],
    ["s3://AK%2FIA:h+u=s~h@s3.example.com/archives", { accessKeyId: "AK/IA", secretAccessKey: "h+u=s~h" }],
  ])("%s names a bucket", (text, changes) => {
    expect(parseArchiveUrl(text, defaultFolder)).toEqual({ ...simple, ...changes });
  });

  test.each([
    [null, defaultFolder],
    ["file:///var/archives", "/var/archives"],
    ["file:///var/my%20archives", "/var/my archives"],
  ])("%s names a folder", (text, folder) => {
    expect(parseArchiveUrl(text, defaultFolder)).toEqual({ kind: "folder", folder });
  });

  /** Parts of the keys and secrets. */
  const secrets = /AKIA|Qz|Xq/;

  test.each([
    ["", "is not a valid URL"],
    ["/var/archives", "is not a valid URL"],
    ["s3://AKIA:Qz/Xq@s3.example.com/archives", "is not a valid URL"],
    ["s3://AKIA:Qz%2FXq@s3.example.com:70000/archives", "is not a valid URL"],
    ["https://AKIA:QzXq@s3.example.com/archives", "does not begin with s3:// or file://"],
    ["s3://AKIA:12/Xq@s3.example.com/archives", "has no key"],
    ["s3://s3.example.com/archives", "has no key"],
    ["s3://AKIA@s3.example.com/archives", "has no secret"],
    ["s3://AKIA:Qz%zzXq@s3.example.com/archives", "has an invalid percent-encoding in its secret"],
    ["s3://AKIA%:QzXq@s3.example.com/archives", "has an invalid percent-encoding in its key"],
    ["s3://AKIA:Qz%0AXq@s3.example.com/archives", "has a secret with characters other than visible ASCII"],
    ["s3://AKIA%20:QzXq@s3.example.com/archives", "has a key with characters other than visible ASCII"],
    ["s3://AKIA:12#Xq@s3.example.com/archives", "contains #"],
    ["s3://AKIA:12?Xq@s3.example.com/archives", "has a parameter other than region and tls"],
    ["s3://AKIA:QzXq@s3.example.com/archives?regoin=eu", "has a parameter other than region and tls"],
    ["s3://AKIA:QzXq@s3.example.com/archives?region=e%0Au", "has a region with characters other than"],
    ["s3://AKIA:QzXq@s3.example.com/archives?region=", "has a region with characters other than"],
    ["s3://AKIA:QzXq@s3.example.com/archives?tls=on", "sets tls to a value other than off"],
    ["s3://AKIA:QzXq@s3%20.example.com/archives", "has an invalid host"],
    ["s3://AKIA:QzXq@s3.example.com", "has no bucket"],
    ["s3://AKIA:QzXq@s3.example.com/", "has no bucket"],
    ["s3://AKIA:QzXq@s3.example.com//archives", "has no bucket"],
    ["s3://AKIA:QzXq@s3.example.com/ar%20chives", "has no bucket, or one with characters other than"],
    ["s3://AKIA:QzXq@s3.example.com/archives/a%2Fb", "has a folder with characters other than"],
    ["s3://AKIA:QzXq@s3.example.com/archives/a//b", "has a folder with characters other than"],
    ["s3://AKIA:QzXq@s3.example.com/archives/é", "has a folder with characters other than"],
    ["s3://AKIA:QzXq@s3.example.com/archives/.a", "has a folder with characters other than"],
    ["file://host/var/archives", "has a host before the folder"],
    ["file:///", "has no folder"],
    ["file:///var/archives?tls=off", "contains ? or #"],
    ["file:///var/a%2Fb", "has an invalid folder"],
  ])("%j is rejected, without quoting any of it", (text, problem) => {
    const refused = () => parseArchiveUrl(text, defaultFolder);
    expect(refused).toThrow(ArchiveUrlError);
    expect(refused).toThrow(`The archive URL ${problem}`);
    expect(refused).toThrow(`Accepted: ${archiveUrlForm}.`);
    expect(shownOf(refused)).not.toMatch(secrets);
  });
});

describe("an archive URL can be opened", () => {
  const { signal } = new AbortController();

  test("as a folder", async () => {
    const folder = await mkdtemp(join(tmpdir(), "swblobs-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const blobs = await openBlobs(parseArchiveUrl(`file://${folder}`, defaultFolder));
    await blobs.put("packs/one", Buffer.from("x"), signal);
    expect(await readdir(join(folder, "packs"))).toEqual(["one"]);
  });

  test("as a bucket", async () => {
    const server = await startS3Server();
    onTestFinished(() => server.stop());
    const { endpoint, bucket, accessKeyId, secretAccessKey } = server.place("");
    const text = `s3://${accessKeyId}:${secretAccessKey}@${new URL(endpoint).host}/${bucket}/deep?tls=off`;
    const blobs = await openBlobs(parseArchiveUrl(text, defaultFolder));
    await blobs.put("packs/one", Buffer.from("x"), signal);
    expect(await blobs.list("packs", signal)).toEqual(new Map([["packs/one", 1]]));
  });
});
