/** Sites as rows, of which only those near the window exist, and only their pages are read, so that ten thousand scroll smoothly. */
import { Paper, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQueries } from "@tanstack/react-query";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import {
  changedFilter,
  type Order,
  overviewPage,
  pageLength,
  type SiteFilter,
  type SiteOverview,
} from "../../api/siteOverviews.ts";
import { texts } from "../../texts.ts";
import { SiteRow } from "./SiteRow.tsx";
import type { Selection } from "./selection.ts";

const at = texts.overview;

interface SiteTableProps {
  readonly company: string;
  readonly filter: SiteFilter;
  /** Number of sites that match. */
  readonly total: number;
  readonly show: (filter: SiteFilter) => void;
  readonly selection: Selection;
  readonly toggle: (site: SiteOverview) => void;
}

/** Pixels. Narrow rows have a second line. */
const rowHeights = { wide: 76, narrow: 116 };

export function SiteTable({ filter, show, ...rest }: SiteTableProps) {
  const isNarrow = useMediaQuery("(max-width: 61.99em)", false, { getInitialValueInEffect: false });
  const rowHeight = isNarrow ? rowHeights.narrow : rowHeights.wide;
  return (
    <Paper withBorder component="table" aria-label={at.list} aria-rowcount={rest.total + 1} className="site-table">
      <Header filter={filter} show={show} />
      <Rows rowHeight={rowHeight} filter={filter} {...rest} />
    </Paper>
  );
}

function Rows({
  company,
  filter,
  total,
  selection,
  toggle,
  rowHeight,
}: Omit<SiteTableProps, "show"> & { readonly rowHeight: number }) {
  const list = useRef<HTMLTableSectionElement>(null);
  const virtualizer = useWindowVirtualizer({
    count: total,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: list.current?.offsetTop ?? 0,
  });
  // The rows stay, and with them a dialog that one of them has opened.
  const measured = useRef(rowHeight);
  useEffect(() => {
    if (measured.current !== rowHeight) virtualizer.measure();
    measured.current = rowHeight;
  }, [virtualizer, rowHeight]);
  const rows = virtualizer.getVirtualItems();
  const pages = [...new Set(rows.map(({ index }) => Math.floor(index / pageLength)))];
  const found = useQueries({ queries: pages.map((page) => overviewPage(company, filter, page)) });
  const pageOf = (index: number) => found[pages.indexOf(Math.floor(index / pageLength))];
  const siteAt = (index: number) => pageOf(index)?.data?.items[index % pageLength];
  return (
    <tbody ref={list} style={{ height: total * rowHeight }}>
      {rows.map(({ index }) => (
        <tr
          key={index}
          aria-rowindex={index + 2}
          className="row site-row"
          style={{ height: rowHeight, transform: `translateY(${index * rowHeight}px)` }}
        >
          <SiteRow
            site={siteAt(index)}
            error={pageOf(index)?.error ?? null}
            retry={() => void pageOf(index)?.refetch()}
            isSelected={selection.has(siteAt(index)?.id ?? "")}
            toggle={toggle}
          />
        </tr>
      ))}
    </tbody>
  );
}

const columns: readonly { readonly name: string; readonly order: Order | null; readonly className?: string }[] = [
  { name: at.picture, order: null, className: "wide-only" },
  { name: at.site, order: "name" },
  { name: at.state, order: null, className: "wide-only" },
  { name: at.wordpress, order: "wordpress", className: "wide-only" },
  { name: at.php, order: "php", className: "wide-only" },
  { name: at.updates, order: "updates", className: "wide-only" },
  { name: at.risk, order: "vulnerabilities", className: "wide-only" },
  { name: at.proven, order: "proven", className: "wide-only" },
];

function Header({ filter, show }: Pick<SiteTableProps, "filter" | "show">) {
  return (
    <thead>
      <tr aria-rowindex={1} className="site-row site-head">
        <th scope="col">
          <VisuallyHidden>{at.selectColumn}</VisuallyHidden>
        </th>
        {columns.map(({ name, order, className = "" }) => (
          <ColumnHead key={name} name={name} order={order} className={className} filter={filter} show={show} />
        ))}
      </tr>
    </thead>
  );
}

interface ColumnHeadProps extends Pick<SiteTableProps, "filter" | "show"> {
  readonly name: string;
  /** Null: it can't be sorted by. */
  readonly order: Order | null;
  readonly className: string;
}

function ColumnHead({ name, order, className, filter, show }: ColumnHeadProps) {
  if (order === null) {
    return (
      <th scope="col" className={className}>
        {name}
      </th>
    );
  }
  const isSorted = (filter.order ?? "name") === order;
  const isDescending = filter.descending === true;
  // The first click on numbers shows the sites that need attention.
  const next = isSorted ? !isDescending : order === "updates" || order === "vulnerabilities";
  return (
    <th scope="col" className={className} aria-sort={isSorted ? (isDescending ? "descending" : "ascending") : "none"}>
      <UnstyledButton
        fz="sm"
        fw={600}
        onClick={() => show(changedFilter(filter, { order, descending: next || undefined }))}
      >
        {name}
        {isSorted && <span aria-hidden="true">{isDescending ? " ↓" : " ↑"}</span>}
      </UnstyledButton>
    </th>
  );
}
