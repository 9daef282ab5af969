<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_Parser_Node;

/** Answers statements that the driver refuses. */
interface Statement {
	/**
	 * Returns the result, or null if the driver should answer: it is another statement after all.
	 *
	 * @param WP_Parser_Node $node  The statement: the child of `simpleStatement`.
	 * @param string         $query Its text.
	 */
	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement;
}
