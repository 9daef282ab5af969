import { Badge, Group, Modal, NumberInput, Stack, Table, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { type FleetPackage, fleetQuery } from "../../api/fleet.ts";
import type { PackageKind } from "../../api/packages.ts";
import { may, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";

const at = texts.fleet;
const typingMilliseconds = 300;

/** Plugins or themes, each with a button that updates it everywhere. */
export function FleetPackages({ kind }: { readonly kind: PackageKind }) {
  const session = useSignedIn();
  const [search, setSearch] = useState("");
  const [sought] = useDebouncedValue(search, typingMilliseconds);
  const company = session?.company.id ?? "";
  const packages = useQuery({ ...fleetQuery(company, kind, sought), placeholderData: keepPreviousData });
  const [chosen, choose] = useState<FleetPackage | null>(null);
  const forbidden = may(session, "manage_rollouts") ? null : texts.needs.manageRollouts;
  return (
    <Stack>
      <TextInput
        type="search"
        aria-label={at.search}
        placeholder={at.search}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        maw={400}
      />
      <Loaded query={packages}>
        {(found) =>
          found.length === 0 ? (
            <EmptyState
              title={sought === "" ? at.noPackages : at.noMatch(sought)}
              {...(sought === "" && { hint: at.noPackagesHint })}
            />
          ) : (
            <DataTable
              label={at.tabs[kind]}
              columns={[at.name, at.newest, at.environments, at.updates]}
              actions={at.rollOut}
            >
              {found.map((item) => (
                <PackageRow key={item.name} item={item} reason={forbidden} choose={() => choose(item)} />
              ))}
            </DataTable>
          )
        }
      </Loaded>
      {chosen !== null && <RolloutDialog company={company} kind={kind} item={chosen} close={() => choose(null)} />}
    </Stack>
  );
}

interface PackageRowProps {
  readonly item: FleetPackage;
  readonly reason: string | null;
  readonly choose: () => void;
}

function PackageRow({ item, reason, choose }: PackageRowProps) {
  return (
    <Table.Tr>
      <Table.Td>{item.title}</Table.Td>
      <Table.Td>
        <Group gap="xs">
          {item.latest_version}
          {item.is_latest_version_vulnerable && <Badge color="red">{texts.updates.vulnerable}</Badge>}
        </Group>
      </Table.Td>
      <Table.Td>{item.environment_count}</Table.Td>
      <Table.Td>{item.update_count}</Table.Td>
      <Table.Td ta="right">
        <ActionButton
          size="compact-sm"
          variant="default"
          reason={reason ?? (item.update_count === 0 ? at.upToDate : null)}
          aria-label={at.rollOutNamed(item.title)}
          onClick={choose}
        >
          {at.rollOut}
        </ActionButton>
      </Table.Td>
    </Table.Tr>
  );
}

interface RolloutDialogProps {
  readonly company: string;
  readonly kind: PackageKind;
  readonly item: FleetPackage;
  readonly close: () => void;
}

interface RolloutValues extends Record<string, unknown> {
  readonly canaries: number | string;
  readonly concurrency: number | string;
  readonly stop_after_failures: number | string;
}

const usual: RolloutValues = { canaries: 1, concurrency: 2, stop_after_failures: 1 };

function RolloutDialog({ company, kind, item, close }: RolloutDialogProps) {
  const navigate = useNavigate();
  const bodyOf = (values: RolloutValues) => ({
    type: kind === "plugins" ? ("plugin" as const) : ("theme" as const),
    name: item.name,
    canaries: Number(values.canaries),
    concurrency: Number(values.concurrency),
    stop_after_failures: Number(values.stop_after_failures),
  });
  const { form, isSending, error, submit } = useApiForm({
    initialValues: usual,
    send: (values) =>
      answerOf(api.POST("/company/{id}/rollouts", { params: { path: { id: company } }, body: bodyOf(values) })),
    done: ({ rollout: { id } }) => void navigate({ to: "/rollouts/$rolloutId", params: { rolloutId: id } }),
  });
  return (
    <Modal
      opened
      onClose={close}
      title={at.rollOutTitle(item.title, item.latest_version)}
      closeButtonProps={{ "aria-label": texts.close }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <Text size="sm">{at.rollOutHint}</Text>
          <Failure error={error} />
          <NumberInput label={at.canaries} {...form.getInputProps("canaries")} />
          <NumberInput label={at.concurrency} {...form.getInputProps("concurrency")} />
          <NumberInput label={at.stop} {...form.getInputProps("stop_after_failures")} />
          <Group>
            <ActionButton type="submit" loading={isSending}>
              {at.start}
            </ActionButton>
            <CurlButton method="POST" path={`/company/${company}/rollouts`} body={bodyOf(form.values)} />
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
