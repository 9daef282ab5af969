/** Opens the archives in a folder or an object store. */
import type { Blobs } from "./blobs.ts";
import { openFolderBlobs } from "./folderBlobs.ts";
import { namingFailures } from "./namedFailures.ts";
import type { S3Place } from "./s3Blobs.ts";

type BlobsLocation = { readonly kind: "folder"; readonly folder: string } | (S3Place & { readonly kind: "s3" });

/** Loads the S3 client only if it is needed. */
export async function openBlobs(location: BlobsLocation): Promise<Blobs> {
  if (location.kind === "folder") return namingFailures(openFolderBlobs(location.folder));
  const { openS3Blobs } = await import("./s3Blobs.ts");
  return openS3Blobs(location);
}
