/** The screenshots that an update has compared: those of one page at a time, with a slider or side by side. */
import { Box, Button, Group, Image, SegmentedControl, SimpleGrid, Slider, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type ComparedPage, comparedPagesQuery, pictureQuery } from "../api/pictures.ts";
import { percentText } from "../numberFormats.ts";
import { texts } from "../texts.ts";
import { Card } from "./Card.tsx";
import { DataTable } from "./DataTable.tsx";
import { Loaded } from "./Failure.tsx";

const at = texts.pictures;
const views = ["slider", "sides"] as const;
type View = (typeof views)[number];

interface OperationPicturesProps {
  readonly operationId: string;
}

/** Shows nothing if the operation has compared none. Begins with the page that differs most. */
export function OperationPictures({ operationId }: OperationPicturesProps) {
  const compared = useQuery(comparedPagesQuery(operationId));
  return <Loaded query={compared}>{(pages) => <ComparedPages operationId={operationId} pages={pages} />}</Loaded>;
}

interface ComparedPagesProps extends OperationPicturesProps {
  readonly pages: readonly ComparedPage[];
}

function ComparedPages({ operationId, pages }: ComparedPagesProps) {
  const [chosen, choose] = useState<string | null>(null);
  const [first] = pages.toSorted((one, other) => other.difference - one.difference);
  if (first === undefined) return null;
  const path = chosen ?? first.path;
  return (
    <Card title={at.title}>
      <DataTable label={at.title} columns={[at.page, at.difference]} actions={at.show} minWidth={300}>
        {pages.map((page) => (
          <PageRow key={page.path} page={page} isShown={page.path === path} show={() => choose(page.path)} />
        ))}
      </DataTable>
      <Pictures key={path} operationId={operationId} path={path} />
    </Card>
  );
}

interface PageRowProps {
  readonly page: ComparedPage;
  readonly isShown: boolean;
  readonly show: () => void;
}

function PageRow({ page: { path, difference }, isShown, show }: PageRowProps) {
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{path}</Table.Td>
      <Table.Td>{percentText(difference)}</Table.Td>
      <Table.Td ta="right">
        <Button
          size="compact-sm"
          variant={isShown ? "filled" : "default"}
          aria-pressed={isShown}
          aria-label={at.showNamed(path)}
          onClick={show}
        >
          {at.show}
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}

function Pictures({ operationId, path }: OperationPicturesProps & { readonly path: string }) {
  const pictures = useQuery(pictureQuery(operationId, path));
  const [view, setView] = useState<View>("slider");
  return (
    <Loaded query={pictures}>
      {(found) =>
        found === null ? (
          <Text size="sm">{at.gone}</Text>
        ) : (
          <Stack>
            <SegmentedControl
              style={{ alignSelf: "start" }}
              aria-label={at.view}
              value={view}
              data={views.map((value) => ({ value, label: at.views[value] }))}
              onChange={(value) => setView(views.find((known) => known === value) ?? "slider")}
            />
            {view === "slider" ? <Overlaid path={path} {...found} /> : <SideBySide path={path} {...found} />}
          </Stack>
        )
      }
    </Loaded>
  );
}

interface TwoPictures {
  readonly path: string;
  /** Data URLs. */
  readonly before: string;
  readonly after: string;
}

/** The later picture lies below the earlier one, of which the slider shows the left part. */
function Overlaid({ path, before, after }: TwoPictures) {
  const [percent, setPercent] = useState(50);
  return (
    <Stack maw={800}>
      <Group justify="space-between">
        <Text size="sm">{at.before}</Text>
        <Text size="sm">{at.after}</Text>
      </Group>
      <Slider
        thumbLabel={at.position}
        label={percentText}
        value={percent}
        onChange={setPercent}
        min={0}
        max={100}
        step={1}
      />
      <Box pos="relative" className="picture">
        <Image src={after} alt={at.afterOf(path)} />
        <Image
          src={before}
          alt={at.beforeOf(path)}
          pos="absolute"
          top={0}
          left={0}
          style={{ clipPath: `inset(0 ${100 - percent}% 0 0)` }}
        />
        <Box className="divider" style={{ left: `${percent}%` }} />
      </Box>
    </Stack>
  );
}

function SideBySide({ path, before, after }: TwoPictures) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <figure className="picture-of">
        <figcaption>{at.before}</figcaption>
        <Image className="picture" src={before} alt={at.beforeOf(path)} />
      </figure>
      <figure className="picture-of">
        <figcaption>{at.after}</figcaption>
        <Image className="picture" src={after} alt={at.afterOf(path)} />
      </figure>
    </SimpleGrid>
  );
}
