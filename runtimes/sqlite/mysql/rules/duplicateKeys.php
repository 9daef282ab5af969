<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

require_once __DIR__ . '/../changes.php';

/**
 * `INSERT … ON DUPLICATE KEY UPDATE`: a row that is updated counts twice, one that does not change does not count at all, and
 * new values may be columns of the query that the rows come from.
 */
final class Duplicate_Keys implements Rule {
	public function nodes(): array {
		return [ 'insertStatement' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$update = $node->get_first_child_node( 'insertUpdateList' );
		if ( null === $update ) {
			return null;
		}
		$schema  = $rewriting->driver->schema();
		$table   = $schema->name_in( $node->get_first_child_node( 'tableRef' ) );
		$columns = array_column( $schema->columns_of( $table ), 'COLUMN_NAME' );
		$query   = $node->get_first_child_node( 'insertQueryExpression' );
		if ( null !== $query ) {
			$this->name_inserted( $update, $this->selected( $query, $columns ), [ $table, $columns ], $rewriting );
		}
		$assignments = [];
		$is_testable = true;
		foreach ( $update->get_first_child_node( 'updateList' )->get_child_nodes( 'updateElement' ) as $element ) {
			$value         = $element->get_first_child_node( 'expr' );
			$is_testable   = $is_testable && null !== $value && Changes::is_repeatable( $value );
			$assignments[] = [ $element->get_first_child_node( 'columnRef' ), $value ];
		}
		$counted         = $rewriting->call( 'mysql_count_update', [], $update );
		$parts           = $is_testable ? [ 'WHERE', ...Changes::condition( $assignments ), 'AND', $counted ] : [ 'WHERE', $counted ];
		$where           = $rewriting->sequence( $parts, $update );
		$where->rule_name = 'rewritten';
		Tree::set_children( $node, [ ...$node->get_children(), $where ] );
		return null;
	}

	/**
	 * Returns the columns that a query's columns are inserted into, by the names of the query's columns in lower case.
	 *
	 * @param string[] $columns The table's columns.
	 * @return array<string, string>
	 */
	private function selected( WP_Parser_Node $query, array $columns ): array {
		$fields   = $query->get_first_child_node( 'fields' );
		$targets  = null === $fields ? $columns : array_map( [ Schema::class, 'last_name_of' ], $fields->get_child_nodes( 'insertIdentifier' ) );
		$list     = $query->get_first_descendant_node( 'selectItemList' );
		$selected = [];
		foreach ( null === $list ? [] : $list->get_child_nodes( 'selectItem' ) as $i => $item ) {
			$alias = $item->get_first_child_node( 'selectAlias' );
			$expr  = $item->get_first_child_node( 'expr' );
			$names = array_map( [ Schema::class, 'name_of' ], $expr?->get_descendant_nodes( 'identifier' ) ?? [] );
			$is_column = 2 * count( $names ) - 1 === count( $expr?->get_descendant_tokens() ?? [] );
			if ( null !== $alias && isset( $targets[ $i ] ) ) {
				$selected[ strtolower( Schema::name_of( $alias->get_first_descendant_node( 'identifier' ) ?? $alias ) ) ] = $targets[ $i ];
			}
			if ( $is_column && isset( $targets[ $i ] ) ) {
				$selected[ strtolower( implode( '.', $names ) ) ] = $targets[ $i ];
				$selected[ strtolower( end( $names ) ) ]        ??= $targets[ $i ];
			}
		}
		return $selected;
	}

	/**
	 * Takes new values that are columns of the query from the row that was not inserted.
	 *
	 * @param array<string, string>     $selected The table's columns by the query's.
	 * @param array{string, string[]} $table    The table's name and its columns.
	 */
	private function name_inserted( WP_Parser_Node $update, array $selected, array $table, Rewriting $rewriting ): void {
		[ $name, $columns ] = array_map( static fn ( $each ) => is_array( $each ) ? array_map( 'strtolower', $each ) : strtolower( $each ), $table );
		foreach ( $update->get_first_child_node( 'updateList' )->get_child_nodes( 'updateElement' ) as $element ) {
			foreach ( $element->get_first_child_node( 'expr' )?->get_descendant_nodes( 'columnRef' ) ?? [] as $reference ) {
				$names  = array_map( [ Schema::class, 'name_of' ], $reference->get_descendant_nodes( 'identifier' ) );
				$full   = strtolower( implode( '.', $names ) );
				$is_own = 1 === count( $names ) ? in_array( $full, $columns, true ) : strtolower( $names[0] ) === $name;
				$column = $is_own ? null : $selected[ $full ] ?? null;
				if ( null !== $column ) {
					Tree::set_children( $reference, [ $rewriting->sequence( [ 'excluded.' . Schema::quoted( $column ) ], $reference ) ] );
				}
			}
		}
	}
}
