/** `data.result` of successful operations, by kind. Kinds that are not listed have none: their result is null. */
import { type Static, type TSchema, Type } from "typebox";
import type { OperationKind } from "./operationKinds.ts";
import { nullable, uuid } from "./schema.ts";

const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const count = (description: string, example = 0) => Type.Integer({ minimum: 0, description, examples: [example] });

const Address = Type.Object(
  { address: text("The URL of the site.", "http://demo.localhost:8081") },
  { title: "AddressResult", description: "Where the site is." },
);

const PhpVersion = Type.Object(
  { php_version: text("The PHP version in use.", "8.4") },
  { title: "PhpVersionResult", description: "The new PHP version." },
);

const RuntimeChanged = Type.Object(
  {
    runtime: text("The runtime in use.", "native"),
    php_version: text("The PHP version in use.", "8.4"),
  },
  { title: "RuntimeResult", description: "The new runtime." },
);

/** Files, of which the first hundred are listed. */
export const changedFiles = (description: string, count_: number) =>
  Type.Object(
    {
      count: count("Number of files.", count_),
      bytes: count("Their size in bytes.", 10_240 * count_),
      listed: Type.Array(
        Type.Object({
          path: text("Path relative to the site's root.", "wp-content/themes/garden/style.css"),
          bytes: count("Size in bytes.", 10_240),
        }),
        { description: "The first hundred." },
      ),
    },
    { description },
  );

/** `change`: what makes the changes. `source`: what is copied. */
const comparison = (change: string, source: string, title: string) =>
  Type.Object(
    {
      files: Type.Object(
        {
          added: changedFiles(`Files that the ${change} adds.`, 1),
          changed: changedFiles(`Files that the ${change} replaces.`, 1),
          removed: changedFiles(`Files that the ${change} removes.`, 1),
        },
        { description: "Changes of files." },
      ),
      rows_lost: Type.Array(
        Type.Object({
          table: text("Name of the table.", "wp_posts"),
          rows: count("Number of rows.", 3),
        }),
        {
          description: `Rows of the target that the ${source} lacks, or has with other content. The ${change} removes them.`,
        },
      ),
    },
    { title, description: `The changes that the ${change} would make.` },
  );

const Download = Type.Object(
  {
    id: uuid("Id of the downloadable backup."),
    expires_at: nullable(Type.Integer({ description: "When the link expires. Milliseconds since 1970." })),
    download_link: nullable(
      text("Link to the zip; null for read-only keys.", "http://127.0.0.1:8080/v2/downloads/hK…w/demo-live.zip"),
    ),
  },
  { title: "DownloadResult", description: "The finished zip." },
);

const restoredFrom = {
  backup_id: Type.Integer({ description: "Id of the backup that was used.", examples: [42] }),
  backup_created_at: Type.String({ format: "date-time", description: "When that backup was made." }),
  damaged_backups: count("Number of newer backups that are missing or damaged."),
};

const RestoredEnvironments = Type.Object(
  {
    ...Address.properties,
    environments: Type.Array(
      Type.Object({
        environment_id: uuid("Id of the environment."),
        display_name: text("Display name of the environment.", "Live"),
        ...restoredFrom,
      }),
      { description: "The restored environments, and the backups that were used." },
    ),
    left_out_domains: Type.Array(Type.String(), {
      description:
        "Domains that were not restored, because another site uses them now, or another company has proven that it owns them.",
      examples: [[]],
    }),
  },
  { title: "RestoreResult", description: "The restored environments and their backups." },
);

const Rebuilt = Type.Object(
  { ...restoredFrom, answers: Type.Boolean({ description: "Whether its front page answers.", examples: [true] }) },
  { title: "RebuildResult", description: "The backup that the environment was restored from." },
);

const place = {
  table: text("Name of the table.", "wp_posts"),
  column: text("Name of the column.", "post_content"),
};
const occurrences = count("Number of matches.", 12);

const Replacements = Type.Object(
  {
    performed: Type.Boolean({ description: "False for a preview: nothing was changed." }),
    rows: count("Number of rows with matches.", 7),
    occurrences,
    places: Type.Array(Type.Object({ ...place, rows: count("Number of rows with matches.", 7), occurrences }), {
      description: "The columns with matches.",
    }),
    skipped: Type.Object(
      {
        occurrences: count("Number of skipped matches.", 1),
        listed: Type.Array(
          Type.Object({
            table: place.table,
            column: place.column,
            row: text("Number or key of the row.", "15"),
            occurrences: count("Number of skipped matches in this row.", 1),
          }),
          { description: "The first hundred." },
        ),
      },
      { description: "Matches that are kept, because replacing them would break the value." },
    ),
    addresses: Type.Array(
      Type.Object({
        place: text("Where the address is stored.", "wp_options: home"),
        from: text("The address now.", "http://old.example.com"),
        to: text("The address after the replacement.", "http://new.example.com"),
      }),
      { description: "The site's own addresses that change.", examples: [[]] },
    ),
  },
  { title: "ReplacementResult", description: "The replacements, or in a preview the matches." },
);

const versions = {
  from: text("The version that was replaced.", "5.6"),
  to: text("The version that was installed.", "5.7"),
};

const Updated = Type.Object(
  {
    updated: Type.Array(Type.Object({ name: text("Slug of the plugin or theme.", "akismet"), ...versions }), {
      description: "The updated plugins or themes.",
    }),
  },
  { title: "PackageUpdateResult", description: "The updated plugins or themes." },
);

const WordPressUpdated = Type.Object(
  { from: text("The version that was replaced.", "7.1.1"), to: text("The version that was installed.", "7.1.2") },
  { title: "WordPressUpdateResult", description: "The versions before and after the update." },
);

const DomainsAdded = Type.Object(
  {
    domains: Type.Array(
      Type.Object({
        id: uuid("Id of the domain."),
        name: text("The domain name.", "shop.example.com"),
        record_to_publish: nullable(
          Type.Object(
            {
              name: text("Name of the record, with a final dot.", "_sitewright-verify.shop.example.com."),
              type: text("Type of the record.", "TXT"),
              value: text("Value of the record.", "sitewright-verify=9f86d081884c7d659a2feaa0c55ad015"),
            },
            {
              description:
                "The DNS record that must prove ownership before the domain is served, because another company may own the name. Null if it needs no proof.",
            },
          ),
        ),
      }),
      { description: "The new domains." },
    ),
  },
  { title: "DomainsAddedResult", description: "The new domains." },
);

const DnsRecordChanged = Type.Object(
  {
    record: nullable(
      Type.Object(
        {
          name: text("Name of the records, without the final dot.", "www.example.com"),
          type: text("Type of the records.", "A"),
          ttl: Type.Integer({ description: "Time to live in seconds.", examples: [3600] }),
          values: Type.Array(Type.String(), { description: "Values of the records.", examples: [["203.0.113.7"]] }),
        },
        { description: "The record set after the change, or null if it was deleted." },
      ),
    ),
  },
  { title: "DnsRecordResult", description: "The changed DNS records." },
);

const ZoneChanged = Type.Object(
  { changed_record_sets: count("Number of record sets that were changed.", 4) },
  { title: "ZoneResult", description: "The number of changes to the zone." },
);

const ZoneImported = Type.Object(
  {
    ...ZoneChanged.properties,
    skipped_lines: Type.Array(
      Type.Object({
        line: Type.Integer({ minimum: 1, description: "Number of the line in the file.", examples: [12] }),
        text: text("Beginning of the line.", 'host IN HINFO "x" "y"'),
        reason: text("Why it was skipped.", "Records of type HINFO are not supported."),
      }),
      { description: "The first thousand lines of the file that were skipped." },
    ),
    skipped_lines_count: count("Number of lines that were skipped."),
  },
  { title: "ZoneImportResult", description: "The changes to the zone, and the lines of the file that were skipped." },
);

const output = (name: string, example: string) => text(`${name}: at most 256 KiB, its beginning and its end.`, example);

export type WpCliResult = Static<typeof WpCliResult>;
export const WpCliResult = Type.Object(
  {
    stdout: output("Standard output", "Success: Updated 'blogname' option.\n"),
    stderr: output("Standard error", ""),
    exit_code: nullable(Type.Integer({ description: "Exit code, or null if the command was ended.", examples: [0] })),
    ended_by: Type.Enum(["itself", "time", "output", "memory", "crash"], {
      description: "How the command ended: by itself, by exceeding a limit, or because PHP crashed.",
    }),
    stdout_bytes: count("Size of the whole standard output in bytes.", 36),
    stderr_bytes: count("Size of the whole standard error in bytes."),
    stdout_truncated: Type.Boolean({ description: "Whether `stdout` lacks a part." }),
    stderr_truncated: Type.Boolean({ description: "Whether `stderr` lacks a part." }),
  },
  { title: "WpCliResult", description: "Output of a command." },
);

export const operationResults = {
  addSite: Address,
  addPlainSite: Address,
  cloneSite: Address,
  addEnvironment: Address,
  addPlainEnvironment: Address,
  cloneEnvironment: Address,
  changePrimaryDomain: Address,
  modifyPhpVersion: PhpVersion,
  changeRuntime: RuntimeChanged,
  comparePush: comparison("push", "source", "PushComparison"),
  compareRestore: comparison("restore", "backup", "RestoreComparison"),
  addDownloadableBackup: nullable(Download),
  restoreDeletedSite: RestoredEnvironments,
  restoreDeletedEnvironment: RestoredEnvironments,
  rebuildEnvironment: Rebuilt,
  searchAndReplace: Replacements,
  previewSearchAndReplace: Replacements,
  updatePlugin: Updated,
  updatePlugins: Updated,
  updateTheme: Updated,
  updateThemes: Updated,
  updateWordPress: WordPressUpdated,
  addDomain: DomainsAdded,
  createDnsRecord: DnsRecordChanged,
  updateDnsRecord: DnsRecordChanged,
  deleteDnsRecord: DnsRecordChanged,
  restoreZoneVersion: ZoneChanged,
  importZoneFile: ZoneImported,
  runWpCli: nullable(WpCliResult),
} as const satisfies Partial<Record<OperationKind, TSchema>>;

export type OperationResult<Kind extends keyof typeof operationResults> = Static<(typeof operationResults)[Kind]>;
