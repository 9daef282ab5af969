<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;
use WP_Parser_Node;

/** `DEFAULT` among the values of INSERT, REPLACE and UPDATE, and `DEFAULT(column)` anywhere. */
final class Defaults implements Rule {
	public function nodes(): array {
		return [ 'values', 'updateElement', 'simpleExprBody' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		if ( ! $node->has_child_token( WP_MySQL_Lexer::DEFAULT_SYMBOL ) ) {
			return null;
		}
		switch ( $node->rule_name ) {
			case 'values':
				return $this->values( $node, $rewriting );
			case 'updateElement':
				$column = Schema::last_name_of( $node->get_first_child_node( 'columnRef' ) );
				return self::replaced( $node, [ $this->default_of( $column, $rewriting ) ], $rewriting );
			default:
				$column = Schema::last_name_of( $node->get_first_child_node( 'simpleIdentifier' ) );
				return $rewriting->sequence( [ $this->default_of( $column, $rewriting ) ], $node );
		}
	}

	/** A row of INSERT: the columns are those of its list, or all. */
	private function values( WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		$insert   = $rewriting->nearest( 'insertFromConstructor' );
		$fields   = null === $insert ? null : $insert->get_first_child_node( 'fields' );
		$names    = null === $fields
			? array_column( $this->columns( $rewriting ), 'COLUMN_NAME' )
			: array_map( [ Schema::class, 'last_name_of' ], $fields->get_child_nodes( 'insertIdentifier' ) );
		$position = 0;
		$defaults = [];
		foreach ( $node->get_children() as $child ) {
			$id = $child->id ?? null;
			if ( WP_MySQL_Lexer::DEFAULT_SYMBOL === $id ) {
				$defaults[] = $this->default_of( $names[ $position ] ?? '', $rewriting );
			}
			$position += WP_MySQL_Lexer::COMMA_SYMBOL === $id ? 1 : 0;
		}
		return self::replaced( $node, $defaults, $rewriting );
	}

	/**
	 * Returns the node with other texts in the place of its `DEFAULT`s.
	 *
	 * @param array<string|WP_Parser_Node> $defaults
	 */
	private static function replaced( WP_Parser_Node $node, array $defaults, Rewriting $rewriting ): WP_Parser_Node {
		$children = $node->get_children();
		foreach ( $children as $i => $child ) {
			if ( WP_MySQL_Lexer::DEFAULT_SYMBOL === ( $child->id ?? null ) ) {
				$expression = new WP_Parser_Node( 0, 'expr' );
				$default    = array_shift( $defaults );
				$expression->append_child( is_string( $default ) ? new Fragment( $default, $child->start, $child->length ) : $default );
				$children[ $i ] = $expression;
			}
		}
		Tree::set_children( $node, $children );
		return $node;
	}

	/**
	 * Returns a column's default, as an expression of SQLite or as a node.
	 *
	 * @return string|WP_Parser_Node
	 */
	private function default_of( string $name, Rewriting $rewriting ) {
		$driver = $rewriting->driver;
		foreach ( $this->columns( $rewriting ) as $column ) {
			if ( 0 === strcasecmp( $column['COLUMN_NAME'], $name ) ) {
				return $this->expression( $column, $driver );
			}
		}
		throw Errors::create( $driver, 1054, "Unknown column '$name' in 'field list'" );
	}

	/** @return string|WP_Parser_Node */
	private function expression( array $column, Driver $driver ) {
		[ 'COLUMN_DEFAULT' => $default, 'DATA_TYPE' => $type, 'EXTRA' => $extra ] = $column;
		if ( null === $default ) {
			if ( 'YES' === $column['IS_NULLABLE'] || str_contains( $extra, 'auto_increment' ) ) {
				return 'NULL';
			}
			if ( $driver->is_strict() ) {
				throw Errors::create( $driver, 1364, "Field '{$column['COLUMN_NAME']}' doesn't have a default value" );
			}
			return Field_Definition::implicit_value_of( $type );
		}
		if ( 'CURRENT_TIMESTAMP' === $default && in_array( $type, [ 'datetime', 'timestamp' ], true ) ) {
			return 'CURRENT_TIMESTAMP';
		}
		if ( str_contains( $extra, 'DEFAULT_GENERATED' ) ) {
			$parser = $driver->create_parser( "SELECT ($default)" );
			$parser->next_query();
			return $parser->get_query_ast()->get_first_descendant_node( 'selectItem' )->get_first_child_node( 'expr' );
		}
		return 'bit' === $type ? (string) bindec( substr( $default, 2, -1 ) ) : $driver->get_connection()->quote( $default );
	}

	/** The columns of the statement's table. */
	private function columns( Rewriting $rewriting ): array {
		$statement = $rewriting->nearest( 'insertStatement', 'replaceStatement', 'updateStatement', 'selectStatement' );
		$reference = null === $statement ? null : $statement->get_first_descendant_node( 'tableRef' );
		return null === $reference ? [] : $rewriting->driver->schema()->get( $reference )->rows( 'columns' );
	}
}
