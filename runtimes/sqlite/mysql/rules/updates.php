<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

require_once __DIR__ . '/../changes.php';

/**
 * UPDATE. Joins are made in a query of their own, because the driver takes outer joins for inner ones, and `a OR b` before a
 * join's condition for `a OR (b AND condition)`. Rows that don't change are left out.
 */
final class Updates implements Rule {
	/** The query's name, and its column with the number of the row to update. */
	private const ROWS   = '`mysql_rows`';
	private const NUMBER = self::ROWS . '.`number`';

	public function nodes(): array {
		return [ 'updateStatement' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$references = $node->get_first_child_node( 'tableReferenceList' );
		$tables     = $this->tables( $references, $rewriting );
		$is_joined  = count( $tables ) > 1 || null !== $references->get_first_descendant_node( 'derivedTable' );
		if ( ! $is_joined && $node->has_child_node( 'orderClause' ) && User_Variables::assigns( $node->get_first_child_node( 'updateList' ) ) ) {
			$this->join( $node, array_key_first( $tables ), reset( $tables ), $rewriting );
			return null;
		}
		if ( ! $is_joined ) {
			$this->leave_out_unchanged( $node, $rewriting );
			return null;
		}
		$target = $this->target( $node->get_first_child_node( 'updateList' ), $tables, $rewriting );
		if ( null !== $target ) {
			$this->join( $node, $target, $tables[ $target ], $rewriting );
		}
		return null;
	}

	/**
	 * Returns the names of tables by their aliases in lower case, without those in subqueries.
	 *
	 * @return array<string, string>
	 */
	private function tables( WP_Parser_Node $node, Rewriting $rewriting ): array {
		if ( 'singleTable' === $node->rule_name ) {
			$name  = $rewriting->driver->schema()->name_in( $node->get_first_child_node( 'tableRef' ) );
			$alias = $node->get_first_child_node( 'tableAlias' );
			$alias = null === $alias ? $name : Schema::name_of( $alias->get_first_child_node( 'identifier' ) );
			return [ strtolower( $alias ) => $name ];
		}
		$tables = [];
		foreach ( $node->get_child_nodes() as $child ) {
			if ( 'subquery' !== $child->rule_name ) {
				$tables += $this->tables( $child, $rewriting );
			}
		}
		return $tables;
	}

	/**
	 * Returns the alias of the table that all assignments are for, or null if there are several, which the driver refuses.
	 *
	 * @param array<string, string> $tables Names by alias.
	 */
	private function target( WP_Parser_Node $list, array $tables, Rewriting $rewriting ): ?string {
		$targets = [];
		foreach ( $list->get_child_nodes( 'updateElement' ) as $element ) {
			$names  = array_map( [ Schema::class, 'name_of' ], $element->get_first_child_node( 'columnRef' )->get_descendant_nodes( 'identifier' ) );
			$column = strtolower( array_pop( $names ) );
			$has    = static fn ( string $table ) => in_array(
				$column,
				array_map( 'strtolower', array_column( $rewriting->driver->schema()->columns_of( $table ), 'COLUMN_NAME' ) ),
				true
			);
			$found  = [] === $names ? array_keys( array_filter( $tables, $has ) ) : [ strtolower( array_pop( $names ) ) ];
			$targets += array_fill_keys( $found, true );
		}
		$target = array_key_first( $targets );
		return 1 === count( $targets ) && isset( $tables[ $target ] ) ? $target : null;
	}

	/** SQLite's name for the number of the table's rows that is no column of it. Null if all three are. */
	private static function row_number( string $table, Rewriting $rewriting ): ?string {
		$columns = array_map( 'strtolower', array_column( $rewriting->driver->schema()->columns_of( $table ), 'COLUMN_NAME' ) );
		return array_values( array_diff( [ 'rowid', '_rowid_', 'oid' ], $columns ) )[0] ?? null;
	}

	/**
	 * `UPDATE t AS a, (SELECT a.rowid AS number, … FROM joins WHERE … GROUP BY a.rowid) AS mysql_rows SET … WHERE a.rowid =
	 * mysql_rows.number`. Of several rows that match one of `t`, the same one counts each time. The rows of an UPDATE with an
	 * order are sorted before values are computed: `UPDATE t SET position = (@n := @n + 1) ORDER BY date`.
	 */
	private function join( WP_Parser_Node $node, string $alias, string $table, Rewriting $rewriting ): void {
		$quoted = Schema::quoted( $alias );
		$row    = "$quoted." . ( self::row_number( $table, $rewriting ) ?? 'rowid' );
		$parser = $rewriting->driver->create_parser( 'SELECT 1 FROM ' . Schema::quoted( $table ) . " AS $quoted, (SELECT 1) AS " . self::ROWS . ' WHERE 1' );
		$parser->next_query();
		$frame      = $parser->get_query_ast();
		$references = $node->get_first_child_node( 'tableReferenceList' );
		$where      = $frame->get_first_descendant_node( 'whereClause' );
		$values     = [];
		$changes    = [];
		foreach ( $node->get_first_child_node( 'updateList' )->get_child_nodes( 'updateElement' ) as $element ) {
			$value = $element->get_first_child_node( 'expr' );
			if ( null !== $value ) {
				$name      = '`value' . count( $changes ) . '`';
				$column    = "$quoted." . Schema::quoted( Schema::last_name_of( $element->get_first_child_node( 'columnRef' ) ) );
				$changes[] = [ $column, self::ROWS . ".$name" ];
				array_push( $values, ',', $value, "AS $name" );
				self::replace( $element, $value, $rewriting->sequence( [ self::ROWS . ".$name" ], $value ) );
			}
		}
		$old_where = $node->get_first_child_node( 'whereClause' );
		$source    = [ $references, ...( null === $old_where ? [] : [ $old_where ] ) ];
		$order     = $node->get_first_child_node( 'orderClause' );
		$select    = null === $order
			? [ "( SELECT $row AS `number`", ...$values, 'FROM', ...$source, "GROUP BY $row )" ]
			: $this->in_order( $row, $quoted, $values, [ ...$source, $order, ...$node->get_child_nodes( 'simpleLimitClause' ) ] );
		$subquery  = $frame->get_first_descendant_node( 'derivedTable' )->get_first_child_node( 'subquery' );
		Tree::set_children( $subquery, [ self::plain( $select, $references, $rewriting ) ] );
		$is_all    = count( $changes ) === count( $node->get_first_child_node( 'updateList' )->get_child_nodes( 'updateElement' ) );
		$condition = [ "WHERE $row = " . self::NUMBER, ...( $is_all ? [ 'AND', ...Changes::condition( $changes ) ] : [] ) ];
		Tree::set_children( $where, [ self::plain( $condition, $references, $rewriting ) ] );
		self::replace( $node, $references, $frame->get_first_descendant_node( 'tableReferenceList' ) );
		self::set_where( $node, $where );
		$is_sorting = static fn ( $child ) => $child instanceof WP_Parser_Node && in_array( $child->rule_name, [ 'orderClause', 'simpleLimitClause' ], true );
		Tree::set_children( $node, array_values( array_filter( $node->get_children(), static fn ( $child ) => ! $is_sorting( $child ) ) ) );
	}

	/** Returns the query for the values of sorted rows. @param array<WP_Parser_Node|string> $source The rows. */
	private function in_order( string $row, string $alias, array $values, array $source ): array {
		return [
			"( WITH `mysql_sorted` AS MATERIALIZED ( SELECT $row AS `mysql_number`, $alias.* FROM",
			...$source,
			'), `mysql_numbered` AS MATERIALIZED ( SELECT `mysql_number` AS `number`',
			...$values,
			"FROM `mysql_sorted` AS $alias ) SELECT * FROM `mysql_numbered` )",
		];
	}

	/** MySQL leaves rows with a LIMIT alone only after it has chosen them, so here they count. */
	private function leave_out_unchanged( WP_Parser_Node $node, Rewriting $rewriting ): void {
		if ( $node->has_child_node( 'simpleLimitClause' ) ) {
			return;
		}
		$list        = $node->get_first_child_node( 'updateList' );
		$assignments = [];
		foreach ( $list->get_child_nodes( 'updateElement' ) as $element ) {
			$value = $element->get_first_child_node( 'expr' );
			if ( null === $value || ! Changes::is_repeatable( $value ) ) {
				return;
			}
			$assignments[] = [ $element->get_first_child_node( 'columnRef' ), $value ];
		}
		$where     = $node->get_first_child_node( 'whereClause' );
		$condition = null === $where ? [] : [ '(', $where->get_first_child_node( 'expr' ), ') AND' ];
		$new       = new WP_Parser_Node( 0, 'whereClause' );
		$new->append_child( self::plain( [ 'WHERE', ...$condition, ...Changes::condition( $assignments ) ], $list, $rewriting ) );
		self::set_where( $node, $new );
	}

	/** Returns parts as one node that the driver translates part by part. */
	private static function plain( array $parts, WP_Parser_Node $place, Rewriting $rewriting ): WP_Parser_Node {
		$sequence            = $rewriting->sequence( $parts, $place );
		$sequence->rule_name = 'rewritten';
		return $sequence;
	}

	private static function replace( WP_Parser_Node $parent, WP_Parser_Node $old, WP_Parser_Node $new ): void {
		Tree::set_children( $parent, array_map( static fn ( $child ) => $child === $old ? $new : $child, $parent->get_children() ) );
	}

	/** Puts a condition where the statement has one, or behind the assignments. */
	private static function set_where( WP_Parser_Node $node, WP_Parser_Node $where ): void {
		$children = [];
		foreach ( $node->get_children() as $child ) {
			$name = $child instanceof WP_Parser_Node ? $child->rule_name : '';
			if ( 'whereClause' !== $name ) {
				$children[] = $child;
			}
			if ( 'updateList' === $name ) {
				$children[] = $where;
			}
		}
		Tree::set_children( $node, $children );
	}
}
