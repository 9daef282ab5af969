import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { openBlobs } from "../archives/openBlobs.ts";
import { startS3Server } from "../archives/testing/s3Server.ts";
import { ArchiveUrlError, archiveUrlForm, parseArchiveUrl } from "./archiveUrl.ts";

const usual = "/srv/sitewright/archives";
const simple = {
  kind: "s3",
  endpoint: "https://s3.example.com",
  bucket: "archives",
  prefix: "",
  region: null,
  accessKeyId: "AKIA",
  secretAccessKey: "QzXq",
} as const;

/** All that a log could show of what is thrown. */
function shownOf(work: () => unknown): string {
  try {
    return inspect(work());
  } catch (error) {
    return inspect(error, { depth: Infinity });
  }
}

describe("an archive's address", () => {
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
    expect(parseArchiveUrl(text, usual)).toEqual({ ...simple, ...changes });
  });

  test.each([
    [null, usual],
    ["file:///var/archives", "/var/archives"],
    ["file:///var/my%20archives", "/var/my archives"],
  ])("%s names a folder", (text, folder) => {
    expect(parseArchiveUrl(text, usual)).toEqual({ kind: "folder", folder });
  });

  /** Whatever of these is shown was in a key or a secret. */
  const pieces = /AKIA|Qz|Xq/;

  test.each([
    ["", "can't be read as a URL"],
    ["/var/archives", "can't be read as a URL"],
    ["s3://AKIA:Qz/Xq@s3.example.com/archives", "can't be read as a URL"],
    ["s3://AKIA:Qz%2FXq@s3.example.com:70000/archives", "can't be read as a URL"],
    ["https://AKIA:QzXq@s3.example.com/archives", "begins with neither s3:// nor file://"],
    ["s3://AKIA:12/Xq@s3.example.com/archives", "has no key"],
    ["s3://s3.example.com/archives", "has no key"],
    ["s3://AKIA@s3.example.com/archives", "has no secret"],
    ["s3://AKIA:Qz%zzXq@s3.example.com/archives", "has a % in its secret that is followed by no number"],
    ["s3://AKIA%:QzXq@s3.example.com/archives", "has a % in its key that is followed by no number"],
    ["s3://AKIA:Qz%0AXq@s3.example.com/archives", "has a secret with a letter that no secret has"],
    ["s3://AKIA%20:QzXq@s3.example.com/archives", "has a key with a letter that no key has"],
    ["s3://AKIA:12#Xq@s3.example.com/archives", "has a # in it"],
    ["s3://AKIA:12?Xq@s3.example.com/archives", "has a setting other than region and tls"],
    ["s3://AKIA:QzXq@s3.example.com/archives?regoin=eu", "has a setting other than region and tls"],
    ["s3://AKIA:QzXq@s3.example.com/archives?region=e%0Au", "names a region with other letters"],
    ["s3://AKIA:QzXq@s3.example.com/archives?region=", "names a region with other letters"],
    ["s3://AKIA:QzXq@s3.example.com/archives?tls=on", "sets tls to something else than off"],
    ["s3://AKIA:QzXq@s3%20.example.com/archives", "names no host that can be read"],
    ["s3://AKIA:QzXq@s3.example.com", "names no bucket"],
    ["s3://AKIA:QzXq@s3.example.com/", "names no bucket"],
    ["s3://AKIA:QzXq@s3.example.com//archives", "names no bucket"],
    ["s3://AKIA:QzXq@s3.example.com/ar%20chives", "names no bucket, or one with other letters"],
    ["s3://AKIA:QzXq@s3.example.com/archives/a%2Fb", "names a folder with other letters"],
    ["s3://AKIA:QzXq@s3.example.com/archives/a//b", "names a folder with other letters"],
    ["s3://AKIA:QzXq@s3.example.com/archives/é", "names a folder with other letters"],
    ["s3://AKIA:QzXq@s3.example.com/archives/.a", "names a folder with other letters"],
    ["file://host/var/archives", "names a host before its folder"],
    ["file:///", "names no folder"],
    ["file:///var/archives?tls=off", "has a ? or # in it"],
    ["file:///var/a%2Fb", "names a folder that can't be read"],
  ])("%j is refused, without showing any of it", (text, problem) => {
    const refused = () => parseArchiveUrl(text, usual);
    expect(refused).toThrow(ArchiveUrlError);
    expect(refused).toThrow(`The archive's address ${problem}`);
    expect(refused).toThrow(`Accepted: ${archiveUrlForm}.`);
    expect(shownOf(refused)).not.toMatch(pieces);
  });
});

describe("what an address names is opened", () => {
  const { signal } = new AbortController();

  test("as a folder", async () => {
    const folder = await mkdtemp(join(tmpdir(), "swblobs-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const blobs = await openBlobs(parseArchiveUrl(`file://${folder}`, usual));
    await blobs.put("packs/one", Buffer.from("x"), signal);
    expect(await readdir(join(folder, "packs"))).toEqual(["one"]);
  });

  test("as a bucket", async () => {
    const server = await startS3Server();
    onTestFinished(() => server.stop());
    const { endpoint, bucket, accessKeyId, secretAccessKey } = server.place("");
    const text = `s3://${accessKeyId}:${secretAccessKey}@${new URL(endpoint).host}/${bucket}/deep?tls=off`;
    const blobs = await openBlobs(parseArchiveUrl(text, usual));
    await blobs.put("packs/one", Buffer.from("x"), signal);
    expect(await blobs.list("packs", signal)).toEqual(new Map([["packs/one", 1]]));
  });
});
