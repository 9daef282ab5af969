/** Records of the Wordfence vulnerability feed. */

export interface TestRecord {
  readonly id?: string;
  readonly title?: string;
  readonly type?: string;
  readonly slug?: string;
  readonly from?: string;
  readonly isFromIncluded?: boolean;
  readonly to?: string;
  readonly isToIncluded?: boolean;
  readonly patched?: readonly string[];
  readonly score?: number | null;
}

/** By default a vulnerability of `shop` up to 1.9. */
export function feedRecord(options: TestRecord = {}) {
  const {
    type = "plugin",
    slug = "shop",
    from = "*",
    to = "1.9",
    isFromIncluded = true,
    isToIncluded = true,
  } = options;
  const id = options.id ?? `${slug}-${from}-${to}`;
  return {
    id,
    title: options.title ?? `${slug} <= ${to} - {"a": [Injection]} \\" of \u00fcml\u00e4uts`,
    software: [
      {
        type,
        name: slug,
        slug,
        affected_versions: {
          [`${from} - ${to}`]: {
            from_version: from,
            from_inclusive: isFromIncluded,
            to_version: to,
            to_inclusive: isToIncluded,
          },
        },
        patched: true,
        patched_versions: options.patched ?? ["2.0"],
        remediation: "Update to version 2.0, or a newer patched version",
      },
    ],
    informational: false,
    description: "x".repeat(200),
    references: ["https://advisories.example/1"],
    cwe: { id: 89, name: "SQL", description: "…" },
    cvss: options.score === null ? null : { vector: "CVSS:3.1/AV:N", score: options.score ?? 9.8, rating: "Critical" },
    cve: "CVE-2026-1",
    cve_link: "https://cve.example/1",
    researchers: ["Ada"],
    published: "2026-01-01 00:00:00",
    updated: "2026-01-02 00:00:00",
    copyrights: {},
  };
}

export function feedOf(records: readonly unknown[]): string {
  return JSON.stringify(Object.fromEntries(records.map((record, at) => [`r${at}`, record])));
}
