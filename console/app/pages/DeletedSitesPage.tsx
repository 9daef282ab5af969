import { Table, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { deletedSitesQuery } from "../api/backups.ts";
import { answerOf, api, type Schemas } from "../api/client.ts";
import { mayChange, useSignedIn } from "../api/session.ts";
import { dateText, dayText } from "../formats.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { ConfirmDialog } from "../parts/ConfirmDialog.tsx";
import { DataTable } from "../parts/DataTable.tsx";
import { EmptyState } from "../parts/EmptyState.tsx";
import { Loaded } from "../parts/Failure.tsx";
import { Page } from "../parts/Page.tsx";
import { useStartAndFollow } from "../parts/useStartAndFollow.ts";
import { texts } from "../texts.ts";

const at = texts.deletedSites;
type DeletedSite = Schemas["DeletedSite"];

/** Sites that can be restored although they have been deleted. */
export function DeletedSitesPage() {
  const company = useSignedIn()?.company.id ?? "";
  const sites = useQuery(deletedSitesQuery(company));
  const [chosen, choose] = useState<DeletedSite | null>(null);
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  return (
    <Page title={at.title}>
      <Text>{at.hint}</Text>
      <Loaded query={sites}>
        {(found) =>
          found.length === 0 ? (
            <EmptyState title={at.empty} hint={at.emptyHint} />
          ) : (
            <DataTable label={at.list} columns={[at.site, at.deleted, at.until]} actions={at.restore}>
              {found.map((site) => (
                <Table.Tr key={site.id}>
                  <Table.Td style={{ overflowWrap: "anywhere" }}>
                    {site.display_name}
                    <Text size="xs" c="dimmed">
                      {at.environments(site.environments.map(({ display_name }) => display_name).join(", "))}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    {dateText(site.deleted_at)}
                    {site.deleted_by !== null && <Text size="xs">{at.by(site.deleted_by)}</Text>}
                  </Table.Td>
                  <Table.Td>{dayText(site.restorable_until)}</Table.Td>
                  <Table.Td ta="right">
                    <ActionButton
                      size="compact-sm"
                      variant="default"
                      reason={forbidden}
                      aria-label={at.restoreNamed(site.display_name)}
                      onClick={() => choose(site)}
                    >
                      {at.restore}
                    </ActionButton>
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          )
        }
      </Loaded>
      {chosen !== null && <RestoreDialog company={company} site={chosen} close={() => choose(null)} />}
    </Page>
  );
}

interface RestoreDialogProps {
  readonly company: string;
  readonly site: DeletedSite;
  readonly close: () => void;
}

function RestoreDialog({ company, site, close }: RestoreDialogProps) {
  const [name, setName] = useState("");
  const body = name === "" ? {} : { display_name: name };
  const restore = useStartAndFollow(() => {
    const params = { path: { id: company, site_id: site.id } };
    return answerOf(api.POST("/company/{id}/deleted-sites/{site_id}/restore", { params, body }));
  });
  return (
    <ConfirmDialog
      title={at.restoreNamed(site.display_name)}
      warning={at.hint}
      name={null}
      verb={at.restore}
      mutation={restore}
      close={close}
      request={{ method: "POST", path: `/company/${company}/deleted-sites/${site.id}/restore`, body }}
    >
      <TextInput
        label={at.newName}
        description={at.newNameHint}
        autoComplete="off"
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </ConfirmDialog>
  );
}
