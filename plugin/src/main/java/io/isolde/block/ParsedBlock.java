// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import java.util.List;

/**
 * A block without types.
 *
 * @param markers the names of the markers in their order, null for each without a name
 */
record ParsedBlock(List<Item> items, List<String> markers) {}
