<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * `GROUP BY a, b WITH ROLLUP`, which SQLite lacks: as a union of the groups by a and b, those by a, and the group of all rows.
 * What a query of the union does not group by is NULL in it. The union has the keys of the groups as columns, too, because
 * the rows of each group are followed by their sum unless the statement asks for another order.
 */
final class Rollup {
	private Driver $driver;
	private string $query;
	/** @var array{expr: WP_Parser_Node, name: string, alias: string|null}[] The items of the SELECT list. */
	private array $items = [];
	/** @var array{expr: WP_Parser_Node, direction: string}[] What is grouped by. */
	private array $groups = [];

	private function __construct( Driver $driver, string $query ) {
		$this->driver = $driver;
		$this->query  = $query;
	}

	/** Returns a statement without ROLLUP that has the same result. */
	public static function spelled_out( Driver $driver, string $query ): string {
		Statement_Size::check( $driver->lexer( $query )->remaining_tokens(), $query, $driver );
		while ( null !== ( $tree = $driver->parsed( $query ) ) ) {
			$found = array_filter( $tree->get_descendant_nodes( 'querySpecification' ), [ self::class, 'has_rollup' ] );
			// The last one contains no other.
			$last = end( $found );
			if ( false === $last ) {
				break;
			}
			$query = ( new self( $driver, $query ) )->replaced( $last, self::expression_of( $last, $tree ) );
		}
		return $query;
	}

	private static function has_rollup( WP_Parser_Node $query ): bool {
		return null !== $query->get_first_child_node( 'groupByClause' )?->get_first_child_node( 'olapOption' )?->get_first_child_token( Lexer::ROLLUP_SYMBOL );
	}

	/** The node that has the order and limit of a query, or null if they are those of a union. */
	private static function expression_of( WP_Parser_Node $query, WP_Parser_Node $tree ): ?WP_Parser_Node {
		foreach ( array_reverse( $tree->get_descendant_nodes( 'queryExpression' ) ) as $expression ) {
			if ( in_array( $query, $expression->get_descendant_nodes( 'querySpecification' ), true ) ) {
				return count( $expression->get_descendant_nodes( 'queryTerm' ) ) > 1 && self::is_union( $expression ) ? null : $expression;
			}
		}
		return null;
	}

	private static function is_union( WP_Parser_Node $expression ): bool {
		return count( $expression->get_first_child_node( 'queryExpressionBody' )?->get_child_nodes( 'queryTerm' ) ?? [] ) > 1;
	}

	private function replaced( WP_Parser_Node $query, ?WP_Parser_Node $expression ): string {
		$this->read_items( $query->get_first_child_node( 'selectItemList' ) );
		foreach ( $query->get_first_child_node( 'groupByClause' )->get_first_child_node( 'orderList' )->get_child_nodes() as $group ) {
			$expr           = $group->get_first_child_node( 'expr' );
			$direction      = $group->get_first_child_node( 'direction' );
			$this->groups[] = [
				'expr'      => $this->grouped( $expr ),
				'direction' => null === $direction ? '' : $this->text( $direction ),
			];
		}
		$order   = $this->order( $expression?->get_first_child_node( 'orderClause' ) );
		$queries = [];
		for ( $count = count( $this->groups ); $count >= 0; --$count ) {
			$queries[] = $this->part( $query, $count, $order );
		}
		$names   = array_map( static fn ( array $item, int $i ) => "`_c$i` AS " . Schema::quoted( $item['name'] ), $this->items, array_keys( $this->items ) );
		$options = array_map( fn ( $option ) => $this->text( $option ), $query->get_child_nodes( 'selectOption' ) );
		$limit   = $expression?->get_first_child_node( 'limitClause' );
		$union   = 'SELECT ' . implode( ' ', $options ) . ' ' . implode( ', ', $names ) . ' FROM (' . implode( ' UNION ALL ', $queries ) . ') AS `_rollup`';
		if ( null === $expression ) {
			return substr_replace( $this->query, $union, $query->get_start(), $query->get_length() );
		}
		$sorted = [] === $order ? [] : array_map( static fn ( array $key ) => "$key[column] $key[direction]", $order );
		$tail   = ' ORDER BY ' . implode( ', ', $sorted ) . ( null === $limit ? '' : ' ' . $this->text( $limit ) );
		$start  = $query->get_start();
		$last   = $limit ?? $expression->get_first_child_node( 'orderClause' ) ?? $query;
		return substr_replace( $this->query, $union . $tail, $start, $last->get_start() + $last->get_length() - $start );
	}

	private function read_items( WP_Parser_Node $list ): void {
		foreach ( $list->get_children() as $item ) {
			if ( $item instanceof WP_MySQL_Token && Lexer::COMMA_SYMBOL === $item->id ) {
				continue;
			}
			$expr = $item instanceof WP_Parser_Node ? $item->get_first_child_node( 'expr' ) : null;
			if ( null === $expr ) {
				throw Errors::unsupported( $this->driver, 'WITH ROLLUP needs the names of the columns instead of *' );
			}
			$tokens        = $item->get_first_child_node( 'selectAlias' )?->get_descendant_tokens() ?? [];
			$alias         = [] === $tokens ? null : end( $tokens )->get_value();
			$column        = self::column_in( $expr );
			$this->items[] = [
				'expr'  => $expr,
				'name'  => $alias ?? ( [] === $column ? $this->text( $expr ) : end( $column ) ),
				'alias' => $alias,
			];
		}
	}

	/** The parts of the name that an expression consists of, in lower case; none if it is something else. @return string[] */
	private static function column_in( WP_Parser_Node $expr ): array {
		$column = 'columnRef' === $expr->rule_name ? $expr : $expr->get_first_descendant_node( 'columnRef' );
		return null !== $column && count( $column->get_descendant_tokens() ) === count( $expr->get_descendant_tokens() ) ? Scope::parts( $column ) : [];
	}

	/** The item that an expression names by its alias or number, or null. */
	private function item_of( WP_Parser_Node $expr ): ?array {
		$tokens = $expr->get_descendant_tokens();
		if ( 1 === count( $tokens ) && Lexer::INT_NUMBER === $tokens[0]->id ) {
			return $this->items[ (int) $tokens[0]->get_value() - 1 ] ?? null;
		}
		$column = self::column_in( $expr );
		foreach ( 1 === count( $column ) ? $this->items : [] as $item ) {
			if ( null !== $item['alias'] && 0 === strcasecmp( $item['alias'], $column[0] ) ) {
				return $item;
			}
		}
		return null;
	}

	/** What a name or number in GROUP BY stands for. A column has precedence over a result that is named like it. */
	private function grouped( WP_Parser_Node $expr ): WP_Parser_Node {
		$item = $this->item_of( $expr );
		foreach ( null === $item ? [] : $item['expr']->get_descendant_nodes( 'columnRef' ) as $column ) {
			if ( [] !== self::column_in( $expr ) && self::is_same( $column, $expr ) ) {
				return $expr;
			}
		}
		return $item['expr'] ?? $expr;
	}

	/**
	 * The keys that the union is sorted by: how each query of it writes it, by the number of its groups, and the direction.
	 *
	 * @return array{column: string, texts: string[], direction: string}[]
	 */
	private function order( ?WP_Parser_Node $clause ): array {
		$keys   = [];
		$counts = range( 0, count( $this->groups ) );
		foreach ( null === $clause ? [] : $clause->get_first_child_node( 'orderList' )->get_child_nodes() as $i => $key ) {
			$expr      = $key->get_first_child_node( 'expr' );
			$expr      = $this->item_of( $expr )['expr'] ?? $expr;
			$direction = $key->get_first_child_node( 'direction' );
			$keys[]    = [
				'column'    => "`_o$i`",
				'texts'     => array_map( fn ( int $count ) => $this->substituted( $expr, $count, true ), $counts ),
				'direction' => null === $direction ? '' : $this->text( $direction ),
			];
		}
		foreach ( null === $clause ? $this->groups : [] as $i => $group ) {
			$keys[] = [
				'column'    => "`_r$i`",
				'texts'     => array_map( static fn ( int $count ) => $i < $count ? '0' : '1', $counts ),
				'direction' => '',
			];
			$keys[] = [
				'column'    => "`_o$i`",
				'texts'     => array_map( fn ( int $count ) => $i < $count ? $this->text( $group['expr'] ) : 'NULL', $counts ),
				'direction' => $group['direction'],
			];
		}
		return $keys;
	}

	/** The query of the union that groups by the first expressions. */
	private function part( WP_Parser_Node $query, int $count, array $order ): string {
		$selected = array_map( fn ( array $item, int $i ) => $this->substituted( $item['expr'], $count ) . " AS `_c$i`", $this->items, array_keys( $this->items ) );
		foreach ( $order as $key ) {
			$selected[] = "{$key['texts'][ $count ]} AS $key[column]";
		}
		$keys  = array_map( fn ( array $group ) => $this->text( $group['expr'] ), array_slice( $this->groups, 0, $count ) );
		$parts = [ 'SELECT ' . implode( ', ', $selected ) ];
		foreach ( $query->get_child_nodes() as $child ) {
			if ( 'groupByClause' === $child->rule_name ) {
				// All rows are a group, if there are any.
				$parts[] = 'GROUP BY ' . ( [] === $keys ? 'NULL' : implode( ', ', $keys ) );
			} elseif ( 'havingClause' === $child->rule_name ) {
				$parts[] = $this->substituted( $child, $count, true );
			} elseif ( 'selectOption' !== $child->rule_name && 'selectItemList' !== $child->rule_name ) {
				$parts[] = $this->text( $child );
			}
		}
		return implode( ' ', $parts );
	}

	private function text( WP_Parser_Node $node ): string {
		return substr( $this->query, $node->get_start(), $node->get_length() );
	}

	/** Returns the text of a node with NULL for what the query does not group by and, on request, results for their names. */
	private function substituted( WP_Parser_Node $node, int $count, bool $names_results = false ): string {
		$edits = [];
		$this->collect( $node, $count, $names_results, $edits );
		$text = '';
		$end  = $node->get_start();
		foreach ( $edits as [ $part, $value ] ) {
			$text .= substr( $this->query, $end, $part->get_start() - $end ) . $value;
			$end   = $part->get_start() + $part->get_length();
		}
		return $text . substr( $this->query, $end, $node->get_start() + $node->get_length() - $end );
	}

	/** Adds the nodes to replace, from left to right, each with another text. */
	private function collect( WP_Parser_Node $node, int $count, bool $names_results, array &$edits ): void {
		foreach ( array_slice( $this->groups, $count ) as $group ) {
			if ( self::is_same( $node, $group['expr'] ) ) {
				$edits[] = [ $node, 'NULL' ];
				return;
			}
		}
		if ( 'groupingOperation' === $node->rule_name ) {
			$edits[] = [ $node, (string) $this->grouping( $node, $count ) ];
			return;
		}
		if ( 'sumExpr' === $node->rule_name || 'subquery' === $node->rule_name ) {
			return;
		}
		$item = $names_results && 'columnRef' === $node->rule_name ? $this->item_of( $node ) : null;
		if ( null !== $item ) {
			$edits[] = [ $node, '(' . $this->substituted( $item['expr'], $count ) . ')' ];
			return;
		}
		foreach ( $node->get_child_nodes() as $child ) {
			$this->collect( $child, $count, $names_results, $edits );
		}
	}

	/** The bits of `GROUPING(a, b)`: 1 for what the query does not group by. */
	private function grouping( WP_Parser_Node $operation, int $count ): int {
		$bits = 0;
		foreach ( $operation->get_first_child_node( 'exprList' )->get_child_nodes() as $expr ) {
			$expr = $this->item_of( $expr )['expr'] ?? $expr;
			$is   = array_filter( array_slice( $this->groups, $count ), static fn ( array $group ) => self::is_same( $expr, $group['expr'] ) );
			$bits = $bits * 2 + ( [] === $is ? 0 : 1 );
		}
		return $bits;
	}

	/** Whether two expressions are the same. A column may be named with its table in one of them. */
	private static function is_same( WP_Parser_Node $node, WP_Parser_Node $expr ): bool {
		$one   = array_map( 'strtolower', self::column_in( $node ) );
		$other = array_map( 'strtolower', self::column_in( $expr ) );
		if ( [] !== $one && [] !== $other ) {
			return array_slice( $one, -min( count( $one ), count( $other ) ) ) === array_slice( $other, -min( count( $one ), count( $other ) ) );
		}
		$tokens = static fn ( WP_Parser_Node $each ) => array_map( static fn ( $token ) => strtolower( $token->get_bytes() ), $each->get_descendant_tokens() );
		return [] === $one && [] === $other && $tokens( $node ) === $tokens( $expr );
	}
}
