<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/** Changes nodes of a statement's tree that SQLite, or the driver, would not treat as MySQL does. */
interface Rule {
	/** Returns the names of the nodes (of grammar rules) that it may change. */
	public function nodes(): array;

	/**
	 * Returns the node that takes the place of this one, or null to keep it. The nodes below it have been rewritten already;
	 * those above it have not.
	 */
	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node;
}
