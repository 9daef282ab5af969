<?php
namespace WP_MySQL_Layer;

use WeakMap;
use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * Results with the digits that MySQL shows: 10.50 from a column of DECIMAL(10,2), and 2.5000 for 5/2. Only in the list of results of
 * the whole statement, because they become texts. Names of these results in HAVING, GROUP BY and ORDER BY mean numbers all the same.
 */
final class Decimals implements Rule {
	/** The expressions of results without their digits, by name in lower case. @var WeakMap<Rewriting, array<string, WP_Parser_Node>> */
	private WeakMap $numbers;

	public function __construct() {
		$this->numbers = new WeakMap();
	}

	public function nodes(): array {
		return [ 'querySpecification', 'queryExpression' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		if ( 'queryExpression' === $node->rule_name ) {
			$this->keep_order( $node, $rewriting );
		} elseif ( $rewriting->driver->shows_digits() && $this->is_final( $rewriting ) ) {
			$this->show( $node, $rewriting );
		}
		return null;
	}

	private function show( WP_Parser_Node $node, Rewriting $rewriting ): void {
		$list = $node->get_first_child_node( 'selectItemList' );
		$numbers  = [];
		$children = [];
		foreach ( $list->get_children() as $child ) {
			$is_star    = $child instanceof WP_MySQL_Token && Lexer::MULT_OPERATOR === $child->id;
			$is_wild    = $is_star || ( $child instanceof WP_Parser_Node && $child->has_child_node( 'tableWild' ) );
			$children[] = $is_wild ? $this->all( $child, $node, $rewriting, $numbers ) : $child;
			if ( ! $is_wild && $child instanceof WP_Parser_Node ) {
				$this->item( $child, $node, $rewriting, $numbers );
			}
		}
		Tree::set_children( $list, $children );
		if ( [] !== $numbers ) {
			$this->numbers[ $rewriting ] = $numbers;
			$this->keep_conditions( $node, $numbers, $rewriting );
			$this->keep_groups( $node, $numbers, $rewriting );
		}
	}

	/** Whether the list of results is that of the whole statement, and not sorted by positions. */
	private function is_final( Rewriting $rewriting ): bool {
		$is_select = false;
		foreach ( $rewriting->above as $node ) {
			switch ( $node->rule_name ) {
				case 'simpleStatement':
					$is_select = $node->has_child_node( 'selectStatement' );
					break;
				case 'subquery':
				case 'commonTableExpression':
				case 'queryExpressionParens':
					return false;
				case 'queryExpression':
					if ( ! $this->is_one_query( $node ) || $this->has_position( $node, $rewriting ) ) {
						return false;
					}
			}
		}
		return $is_select;
	}

	private function is_one_query( WP_Parser_Node $expression ): bool {
		$body = $expression->get_first_child_node( 'queryExpressionBody' );
		return null === $body || count( $body->get_child_nodes( 'queryTerm' ) ) === 1;
	}

	private function has_position( WP_Parser_Node $expression, Rewriting $rewriting ): bool {
		foreach ( self::orders( $expression ) as $order ) {
			if ( 'numLiteral' === $rewriting->kinds->core( $order->get_first_child_node( 'expr' ) )->rule_name ) {
				return true;
			}
		}
		return false;
	}

	/** @return WP_Parser_Node[] */
	private static function orders( WP_Parser_Node $expression ): array {
		$clause = $expression->get_first_child_node( 'orderClause' );
		return null === $clause ? [] : $clause->get_first_child_node( 'orderList' )->get_child_nodes( 'orderExpression' );
	}

	/** Gives one result its digits. @param array<string, WP_Parser_Node> $numbers */
	private function item( WP_Parser_Node $item, WP_Parser_Node $query, Rewriting $rewriting, array &$numbers ): void {
		$expr   = 'selectItem' === $item->rule_name ? $item->get_first_child_node( 'expr' ) : null;
		$digits = null === $expr ? null : $this->digits( $expr, $rewriting );
		if ( null === $digits || ! Known_Results::is_repeatable( $expr ) ) {
			return;
		}
		$column = $rewriting->kinds->core( $expr );
		$parts  = 'columnRef' === $column->rule_name ? Scope::parts( $column ) : [];
		$name   = self::alias( $item ) ?? end( $parts );
		if ( false !== $name ) {
			// A name alone would be that of the result.
			$numbers[ strtolower( $name ) ] = 1 === count( $parts ) ? $this->qualified( $parts[0], $query, $expr, $rewriting ) : $expr;
		}
		// The factor makes up for quotients that have no exact binary form. Other numbers keep all their digits.
		$value = Scales::is_rounded( $expr, $rewriting ) ? [ '(', $expr, ') * 1.0000000000000002' ] : [ $expr ];
		$shown = $rewriting->sequence( [ 'iif(', $expr, "IS NULL, NULL, printf('%.{$digits}f',", ...$value, '))' ], $expr );
		Tree::set_children( $item, array_map( static fn ( $child ) => $child === $expr ? $shown : $child, $item->get_children() ) );
		if ( null === self::alias( $item ) && false !== $name ) {
			// The driver would name the result after its text, with the name of the table.
			$alias            = $rewriting->sequence( [ 'AS ' . Schema::quoted( $name ) ], $expr );
			$alias->rule_name = 'selectAlias';
			$item->append_child( $alias );
		}
	}

	private static function alias( WP_Parser_Node $item ): ?string {
		$tokens = $item->get_first_child_node( 'selectAlias' )?->get_descendant_tokens() ?? [];
		return [] === $tokens ? null : end( $tokens )->get_value();
	}

	private function qualified( string $name, WP_Parser_Node $query, WP_Parser_Node $place, Rewriting $rewriting ): WP_Parser_Node {
		$aliases = array_keys( $rewriting->scope->tables( $query ) );
		// With the sign it is an expression, which no index serves.
		return 1 === count( $aliases )
			? $rewriting->sequence( [ Schema::quoted( $aliases[0] ) . '.' . Schema::quoted( $name ) ], $place )
			: $rewriting->sequence( [ '+', $place ], $place );
	}

	private function digits( WP_Parser_Node $expr, Rewriting $rewriting ): ?int {
		$core   = $rewriting->kinds->core( $expr );
		$column = 'columnRef' === $core->rule_name ? $rewriting->kinds->table_column( $core ) : null;
		$digits = null === $column ? Scales::of( $core, $rewriting ) : $column->digits;
		return 'numLiteral' === $core->rule_name || 0 === $digits ? null : $digits;
	}

	/**
	 * Returns `*` or `t.*` as a list of columns, if one of them has digits.
	 *
	 * @param array<string, WP_Parser_Node> $numbers
	 */
	private function all( WP_Parser_Node|WP_MySQL_Token $wild, WP_Parser_Node $query, Rewriting $rewriting, array &$numbers ): WP_Parser_Node|WP_MySQL_Token {
		$tables = $this->meant_tables( $wild, $query, $rewriting );
		$place  = $wild instanceof WP_Parser_Node ? $wild : $query->get_first_child_node( 'selectItemList' );
		$list   = [];
		$found  = [];
		foreach ( $tables as $alias => $table ) {
			foreach ( $rewriting->driver->columns()->of( $table ) as $column ) {
				$path   = Schema::quoted( (string) $alias ) . '.' . Schema::quoted( $column->name );
				$list[] = null === $column->digits
					? $path
					: "iif($path IS NULL, NULL, printf('%.{$column->digits}f', $path)) AS " . Schema::quoted( $column->name );
				if ( null !== $column->digits ) {
					$found[ strtolower( $column->name ) ] = $rewriting->sequence( [ $path ], $place );
				}
			}
		}
		$numbers += $found;
		if ( [] === $found ) {
			return $wild;
		}
		$columns            = $rewriting->sequence( [ implode( ', ', $list ) ], $place );
		$columns->rule_name = 'rewritten';
		return $columns;
	}

	/** The tables whose columns `*` or `t.*` means, by alias; none if it means other columns, too, or leaves some out. @return array<string, string> */
	private function meant_tables( WP_Parser_Node|WP_MySQL_Token $wild, WP_Parser_Node $query, Rewriting $rewriting ): array {
		$tables = $rewriting->scope->tables( $query );
		if ( $wild instanceof WP_Parser_Node ) {
			$parts  = Scope::parts( $wild );
			$tables = array_filter( $tables, static fn ( $alias ) => 0 === strcasecmp( (string) $alias, end( $parts ) ), ARRAY_FILTER_USE_KEY );
		} elseif ( count( $tables ) > 1 && $this->merges_columns( $query->get_first_child_node( 'fromClause' ) ) ) {
			return [];
		}
		$are_known = static fn ( $source ) => is_string( $source ) && [] !== $rewriting->driver->columns()->of( $source );
		return count( array_filter( $tables, $are_known ) ) === count( $tables ) ? $tables : [];
	}

	/** Whether a join has one column for two of its tables. */
	private function merges_columns( WP_Parser_Node $from ): bool {
		return null !== $from->get_first_descendant_token( Lexer::USING_SYMBOL ) || null !== $from->get_first_descendant_token( Lexer::NATURAL_SYMBOL );
	}

	/** Sorts by the numbers. */
	private function keep_order( WP_Parser_Node $expression, Rewriting $rewriting ): void {
		$is_within = null !== $rewriting->nearest( 'subquery', 'commonTableExpression' );
		$numbers   = $is_within ? [] : $this->numbers[ $rewriting ] ?? [];
		foreach ( [] === $numbers ? [] : self::orders( $expression ) as $order ) {
			$expr   = $order->get_first_child_node( 'expr' );
			$number = $this->number( $rewriting->kinds->core( $expr ), $numbers );
			if ( null === $number ) {
				$this->keep_names( $expr, $numbers, $expression, $rewriting );
				continue;
			}
			$key = $rewriting->sequence( [ $number ], $expr );
			Tree::set_children( $order, array_map( static fn ( $child ) => $child === $expr ? $key : $child, $order->get_children() ) );
		}
	}

	/** Computes a key of the order with the numbers. Within expressions, a column has precedence. @param array<string, WP_Parser_Node> $numbers */
	private function keep_names( WP_Parser_Node $key, array $numbers, WP_Parser_Node $query, Rewriting $rewriting ): void {
		foreach ( self::names_in( $key ) as $name ) {
			$number = $this->number( $name, $numbers );
			if ( null !== $number && null === $rewriting->scope->table_column( $name, [ $query ] ) ) {
				Tree::set_children( $name, [ $rewriting->sequence( [ '(', $number, ')' ], $name ) ] );
			}
		}
	}

	/** Groups by the numbers with their digits, which alone are equal for 0.1 + 0.2 and 0.3. @param array<string, WP_Parser_Node> $numbers */
	private function keep_groups( WP_Parser_Node $query, array $numbers, Rewriting $rewriting ): void {
		$clause = $query->get_first_child_node( 'groupByClause' );
		foreach ( null === $clause ? [] : self::names_in( $clause ) as $name ) {
			if ( null !== $this->number( $name, $numbers ) && null === $rewriting->scope->table_column( $name, [ $query ] ) ) {
				Tree::set_children( $name, [ $rewriting->sequence( [ 'CAST(', ...$name->get_children(), 'AS REAL)' ], $name ) ] );
			}
		}
	}

	/** Compares the numbers. HAVING without groups has become something else. @param array<string, WP_Parser_Node> $numbers */
	private function keep_conditions( WP_Parser_Node $query, array $numbers, Rewriting $rewriting ): void {
		foreach ( [ ...$query->get_child_nodes( 'havingClause' ), ...$query->get_child_nodes( 'rewritten' ) ] as $clause ) {
			$parts = $clause->get_child_nodes();
			foreach ( self::names_in( end( $parts ) ) as $name ) {
				$number = $this->number( $name, $numbers );
				if ( null !== $number ) {
					Tree::set_children( $name, [ $rewriting->sequence( [ '(', $number, ')' ], $name ) ] );
				}
			}
		}
	}

	/** The names in an expression, once each; those in a query within it are of its own tables. @return array<int, WP_Parser_Node> */
	private static function names_in( WP_Parser_Node $node ): array {
		if ( 'columnRef' === $node->rule_name ) {
			return [ spl_object_id( $node ) => $node ];
		}
		$names = [];
		foreach ( 'subquery' === $node->rule_name ? [] : $node->get_child_nodes() as $child ) {
			$names += self::names_in( $child );
		}
		return $names;
	}

	/** The expression of the result that a name means, or null. @param array<string, WP_Parser_Node> $numbers */
	private function number( WP_Parser_Node $node, array $numbers ): ?WP_Parser_Node {
		$parts = 'columnRef' === $node->rule_name ? Scope::parts( $node ) : [];
		return 1 === count( $parts ) ? $numbers[ strtolower( $parts[0] ) ] ?? null : null;
	}
}
