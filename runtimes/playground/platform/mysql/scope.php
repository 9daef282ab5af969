<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/** Finds out which column of which table a name in a statement means. */
final class Scope {
	/** Nodes between a query and its tables. */
	private const SOURCES = [
		'tableReferenceList'       => true,
		'tableReferenceListParens' => true,
		'tableReference'           => true,
		'tableFactor'              => true,
		'singleTable'              => true,
		'singleTableParens'        => true,
		'joinedTable'              => true,
	];

	private Columns $columns;

	public function __construct( Columns $columns ) {
		$this->columns = $columns;
	}

	/**
	 * Returns the column, or null if it is none of a table: a name of a result, or unknown. Names that mean the same kind of
	 * column in all tables need no look at those of the query, and may then be of results.
	 *
	 * @param WP_Parser_Node[] $above The nodes above the name, from the root.
	 */
	public function column( WP_Parser_Node $column_ref, array $above ): ?Column {
		$parts = self::parts( $column_ref );
		$name  = strtolower( array_pop( $parts ) );
		$table = array_pop( $parts );
		$known = $this->columns->named( $name );
		if ( null !== $known ) {
			return $known;
		}
		for ( $i = count( $above ) - 1; $i >= 0; --$i ) {
			foreach ( $this->tables( $above[ $i ] ) as $alias => $real_name ) {
				if ( null !== $table && 0 !== strcasecmp( (string) $alias, $table ) ) {
					continue;
				}
				$column = $this->columns->of( $real_name )[ $name ] ?? null;
				if ( null !== $column ) {
					return $column;
				}
			}
		}
		return null;
	}

	/** The parts of a name: database, table and column, or the last ones. @return string[] */
	public static function parts( WP_Parser_Node $name ): array {
		$values = [];
		foreach ( $name->get_descendant_nodes( 'identifier' ) as $identifier ) {
			$values[] = $identifier->get_first_descendant_token()->get_value();
		}
		return $values;
	}

	/** Returns the real names of a query's tables by alias. */
	private function tables( WP_Parser_Node $query ): array {
		switch ( $query->rule_name ) {
			case 'querySpecification':
				$from = $query->get_first_child_node( 'fromClause' );
				break;
			case 'queryExpression':
				$from = $query->get_first_descendant_node( 'querySpecification' )?->get_first_child_node( 'fromClause' );
				break;
			case 'updateStatement':
			case 'deleteStatement':
				$from = $query;
				break;
			default:
				return [];
		}
		$tables = [];
		if ( null !== $from ) {
			self::collect( $from, $tables );
		}
		return $tables;
	}

	/** Adds the tables below a node, but not those of queries below it. */
	private static function collect( WP_Parser_Node $node, array &$tables ): void {
		$name  = null;
		$alias = null;
		foreach ( $node->get_child_nodes() as $child ) {
			if ( 'tableRef' === $child->rule_name ) {
				$parts = self::parts( $child );
				$name  = end( $parts );
			} elseif ( 'tableAlias' === $child->rule_name ) {
				$alias = self::parts( $child )[0];
			} elseif ( isset( self::SOURCES[ $child->rule_name ] ) ) {
				self::collect( $child, $tables );
			}
		}
		if ( null !== $name ) {
			$tables[ $alias ?? $name ] = $name;
		}
	}
}
