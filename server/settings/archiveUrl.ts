/** Parses the location of the archives. Imports nothing large, since every process reads the settings. */
import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";

type ArchiveLocation =
  | { readonly kind: "folder"; readonly folder: string }
  | {
      readonly kind: "s3";
      /** `https://host:port`. */
      readonly endpoint: string;
      readonly bucket: string;
      /** Folders with a trailing slash, or empty. */
      readonly prefix: string;
      readonly region: string | null;
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
    };

/**
 * The URL is invalid. The message quotes no part of it: in an invalid URL, any part may belong to the secret.
 */
export class ArchiveUrlError extends Error {
  override readonly name = "ArchiveUrlError";
}

/** The accepted forms, for errors and documentation. */
export const archiveUrlForm =
  "s3://KEY:SECRET@host:port/bucket/folder?region=REGION&tls=off (port, folder, region and tls are optional; write / ? # @ : % in key and secret as %2F %3F %23 %40 %3A %25) or file:///folder";

const keyPattern = /^[!-~]+$/;
const bucketPattern = /^[0-9A-Za-z][0-9A-Za-z._-]{1,62}$/;
/** Characters that need no encoding in URLs and signatures. No leading dot, which excludes `..`. */
const folderPattern = /^[0-9A-Za-z_-][0-9A-Za-z._-]*$/;
const regionPattern = /^[0-9A-Za-z-]+$/;

/** Parses a URL of the form above; null means `defaultFolder`. Throws `ArchiveUrlError`. */
export function parseArchiveUrl(text: string | null, defaultFolder: string): ArchiveLocation {
  if (text === null) return { kind: "folder", folder: defaultFolder };
  // Not `new URL`, whose error contains the whole text.
  const url = URL.parse(text);
  if (url === null) return invalid("is not a valid URL: special characters in key and secret must be percent-encoded");
  if (url.protocol === "file:") return parseFolder(url);
  if (url.protocol === "s3:") return parseS3(url);
  return invalid("does not begin with s3:// or file://");
}

/** Describes the location, without secrets. */
export function describeArchiveLocation(place: ArchiveLocation): string {
  if (place.kind === "folder") return `the folder ${place.folder}`;
  const folder = place.prefix === "" ? "" : `, folder ${place.prefix.replace(/\/$/, "")}`;
  return `the bucket ${place.bucket} at ${place.endpoint}${folder}`;
}

/** Whether the folder exists. Always true for a bucket, which reports errors itself. */
export async function archiveFolderExists(place: ArchiveLocation): Promise<boolean> {
  if (place.kind !== "folder") return true;
  return (await stat(place.folder).catch(() => null))?.isDirectory() ?? false;
}

function invalid(problem: string): never {
  throw new ArchiveUrlError(`The archive URL ${problem}. Accepted: ${archiveUrlForm}.`);
}

function parseFolder(url: URL): ArchiveLocation {
  if (url.host !== "") invalid("has a host before the folder: write file:/// with three slashes");
  if (url.search !== "" || url.hash !== "") invalid("contains ? or #, which must be percent-encoded in a folder");
  if (url.pathname === "/") invalid("has no folder");
  try {
    return { kind: "folder", folder: fileURLToPath(url) };
  } catch {
    return invalid("has an invalid folder");
  }
}

function parseS3(url: URL): ArchiveLocation {
  if (url.hash !== "") invalid("contains #, which must be written as %23 in key and secret");
  const [bucket = "", ...folders] = url.pathname.replace(/^\/|\/$/g, "").split("/");
  const { region, endpoint } = parseStore(url);
  const accessKeyId = decoded(url.username, "key");
  const secretAccessKey = decoded(url.password, "secret");
  if (!bucketPattern.test(bucket)) invalid("has no bucket, or one with characters other than letters, digits, . _ -");
  if (!folders.every((folder) => folderPattern.test(folder))) {
    invalid("has a folder with characters other than letters, digits, . _ -, or one that begins with a dot");
  }
  const prefix = folders.map((folder) => `${folder}/`).join("");
  return { kind: "s3", endpoint, bucket, prefix, region, accessKeyId, secretAccessKey };
}

function parseStore(url: URL): { readonly endpoint: string; readonly region: string | null } {
  const parameters = new Map(url.searchParams);
  if ([...parameters.keys()].some((name) => name !== "region" && name !== "tls")) {
    invalid("has a parameter other than region and tls");
  }
  const region = parameters.get("region") ?? null;
  if (region !== null && !regionPattern.test(region)) {
    invalid("has a region with characters other than letters, digits, -");
  }
  const tls = parameters.get("tls") ?? null;
  if (tls !== null && tls !== "off") invalid("sets tls to a value other than off");
  const endpoint = URL.parse(`${tls === null ? "https" : "http"}://${url.host}`);
  if (endpoint === null) return invalid("has an invalid host");
  return { endpoint: endpoint.origin, region };
}

/** Decodes percent-encoding. */
function decoded(text: string, part: "key" | "secret"): string {
  if (text === "") invalid(`has no ${part}`);
  const value = decodedOrNull(text);
  if (value === null) return invalid(`has an invalid percent-encoding in its ${part}: write % itself as %25`);
  if (!keyPattern.test(value)) invalid(`has a ${part} with characters other than visible ASCII characters`);
  return value;
}

function decodedOrNull(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
