/** Texts about what the web server counted. */
export const analyticsTexts = {
  analytics: {
    range: "Period",
    ranges: { "1h": "1 hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days" },
    zone: (name: string) => `Times are in your time zone (${name}).`,
    empty: "Nobody has visited this environment in this period",
    emptyHint: "Open the site, or choose a longer period. Each minute is shown shortly after its end.",
    open: "Open the site",
    gap: "not measured",
    gaps: "Grey: not measured, because the web server was not running or the environment did not exist.",
    time: "Time",
    table: "Show as a table",
    tableNamed: (title: string) => `Show as a table: ${title}`,
    chart: "Show as a chart",
    chartNamed: (title: string) => `Show as a chart: ${title}`,
    picture: (title: string) => `${title}, as a chart`,
    visits: {
      title: "Visits",
      method:
        "A visit is the first page of a visitor on a day (UTC). Visitors are told apart by IP address and browser, of which only a hash is kept, for that day. Bots do not count.",
      visits: "Visits",
    },
    requests: {
      title: "Requests",
      method:
        "All requests of visitors and bots, by who answered: the page cache; PHP, with a page that could have been cached; PHP, with something that is never cached; or neither, such as for files and redirects.",
      hits: "Cached pages",
      misses: "PHP, cacheable",
      bypasses: "PHP, not cacheable",
      others: "Files and others",
      bots: (count: string) => `${count} of them are from bots, which say so in their user agent, or send none.`,
    },
    bandwidth: {
      title: "Bandwidth",
      method: "Bytes sent to visitors over the network: headers and bodies, after compression.",
      bytes: "Sent",
    },
    codes: {
      title: "Status codes",
      method: "The status that each response had. 499: the visitor left before the response.",
      errors: (list: string) => `Errors: ${list}.`,
      error: (status: number, count: string) => `${status} (${count} ×)`,
    },
    times: {
      title: "Response times",
      method:
        "From the beginning of a request until its response was sent, exact to within about 9 percent. Half of the requests were faster than the median, and 95 percent faster than the 95th percentile.",
      cachedP50: "Cached, median",
      cachedP95: "Cached, 95th percentile",
      phpP50: "PHP, median",
      phpP95: "PHP, 95th percentile",
    },
    php: {
      title: "PHP",
      method: "How long PHP worked on requests, and how much processor time it used meanwhile.",
      duration: "Duration",
      processor: "Processor time",
    },
    disk: {
      title: "Disk space",
      method: "Files, database, sessions and temporary files together. It is measured some minutes after each change.",
      bytes: "Used",
    },
    trend: "The last seven days",
    trendOf: (what: string) => `${what} by day (UTC)`,
    trendDay: (day: string, value: string) => `${day}: ${value}`,
    noTrend: "Nobody has visited your sites in the last seven days. Create a site, or point a domain to one.",
  },
};
