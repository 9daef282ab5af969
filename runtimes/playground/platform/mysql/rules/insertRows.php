<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;
use WP_Parser_Node;

/**
 * Rows of INSERT and REPLACE: as many values as columns, where SQLite would ignore the last ones, and `() VALUES ()`, a row
 * of defaults.
 */
final class Insert_Rows implements Rule {
	public function nodes(): array {
		return [ 'insertFromConstructor' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$list   = $node->get_first_child_node( 'insertValues' )->get_first_child_node( 'valueList' );
		$fields = $node->get_first_child_node( 'fields' );
		if ( ! $list->has_child_node( 'values' ) ) {
			return $this->defaults( $rewriting );
		}
		$expected = null === $fields ? null : count( $fields->get_child_nodes() );
		foreach ( $list->get_child_nodes( 'values' ) as $i => $values ) {
			$count      = count( $values->get_child_nodes() );
			$expected ??= count( $this->table( $rewriting )->rows( 'columns' ) );
			if ( $count !== $expected ) {
				throw Errors::create( $rewriting->driver, 1136, "Column count doesn't match value count at row " . ( $i + 1 ) );
			}
		}
		$this->read_bits( $list, $fields, $rewriting );
		return null;
	}

	/** Dumps have the values of columns of bits as bytes, which the driver would take for texts. */
	private function read_bits( WP_Parser_Node $list, ?WP_Parser_Node $fields, Rewriting $rewriting ): void {
		$schema = $rewriting->driver->schema();
		$name   = $schema->name_in( $rewriting->nearest( 'insertStatement', 'replaceStatement' )->get_first_child_node( 'tableRef' ) );
		$bits   = array_map( 'strtolower', $schema->bit_columns( $name ) );
		if ( [] === $bits ) {
			return;
		}
		$names = null === $fields
			? array_column( $this->table( $rewriting )->rows( 'columns' ), 'COLUMN_NAME' )
			: array_map( [ Schema::class, 'last_name_of' ], $fields->get_child_nodes( 'insertIdentifier' ) );
		foreach ( $list->get_child_nodes( 'values' ) as $values ) {
			$children = $values->get_children();
			$position = 0;
			foreach ( $children as $i => $child ) {
				if ( WP_MySQL_Lexer::COMMA_SYMBOL === ( $child->id ?? null ) ) {
					++$position;
				} elseif ( $child instanceof WP_Parser_Node && in_array( strtolower( $names[ $position ] ), $bits, true ) ) {
					$children[ $i ] = $rewriting->call( 'mysql_bits', [ $child ], $child );
				}
			}
			Tree::set_children( $values, $children );
		}
	}

	private function table( Rewriting $rewriting ): Table {
		$statement = $rewriting->nearest( 'insertStatement', 'replaceStatement' );
		return $rewriting->driver->schema()->get( $statement->get_first_child_node( 'tableRef' ) );
	}

	/** Returns the values of `() VALUES ()`, written with one column. */
	private function defaults( Rewriting $rewriting ): WP_Parser_Node {
		$table  = $this->table( $rewriting );
		$column = Schema::quoted( $table->rows( 'columns' )[0]['COLUMN_NAME'] );
		$parser = $rewriting->driver->create_parser( 'INSERT INTO ' . Schema::quoted( $table->name ) . " ($column) VALUES (DEFAULT)" );
		$parser->next_query();
		return $parser->get_query_ast()->get_first_descendant_node( 'insertFromConstructor' );
	}
}
