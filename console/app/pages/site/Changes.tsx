/** What a push or a restore would change: files, and rows that would be lost. */
import { Code, List, Table, Text } from "@mantine/core";
import type { Schemas } from "../../api/client.ts";
import { sizeText } from "../../formats.ts";
import { DataTable } from "../../parts/DataTable.tsx";
import { texts } from "../../texts.ts";

const at = texts.environments;

interface ChangesProps {
  readonly changes: Schemas["PushComparison"];
  /** The headings, which name what makes the changes. */
  readonly words: {
    readonly added: (count: number) => string;
    readonly changed: (count: number) => string;
    readonly removed: (count: number) => string;
    readonly lost: string;
    readonly noneLost: string;
  };
}

export function Changes({ changes: { files, rows_lost: lost }, words }: ChangesProps) {
  return (
    <>
      <ChangedFiles heading={words.added(files.added.count)} files={files.added} />
      <ChangedFiles heading={words.changed(files.changed.count)} files={files.changed} />
      <ChangedFiles heading={words.removed(files.removed.count)} files={files.removed} />
      {lost.length === 0 ? (
        <Text size="sm">{words.noneLost}</Text>
      ) : (
        <>
          <Text size="sm">{words.lost}</Text>
          <DataTable label={words.lost} columns={[at.table, at.rows]} minWidth={300}>
            {lost.map(({ table, rows }) => (
              <Table.Tr key={table}>
                <Table.Td style={{ overflowWrap: "anywhere" }}>{table}</Table.Td>
                <Table.Td>{rows}</Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        </>
      )}
    </>
  );
}

interface FilesProps {
  readonly heading: string;
  readonly files: Schemas["PushComparison"]["files"]["added"];
}

/** How many files there are, and the first hundred, which are listed on request. */
export function ChangedFiles({ heading, files: { count, listed } }: FilesProps) {
  if (count === 0) return <Text size="sm">{heading}</Text>;
  const hidden = count - listed.length;
  return (
    <details>
      <Text component="summary" size="sm">
        {heading}
      </Text>
      <List size="sm" listStyleType="none" mah={300} style={{ overflow: "auto" }} tabIndex={0} aria-label={heading}>
        {listed.map(({ path, bytes }) => (
          <List.Item key={path} style={{ overflowWrap: "anywhere" }}>
            <Code>{path}</Code> {sizeText(bytes)}
          </List.Item>
        ))}
        {hidden > 0 && <List.Item>{texts.home.hidden(hidden)}</List.Item>}
      </List>
    </details>
  );
}
