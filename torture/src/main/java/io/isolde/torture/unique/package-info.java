// SPDX-License-Identifier: Apache-2.0
/** Random writes to a table with unique indexes, and what must hold of its rows and entries. */
package io.isolde.torture.unique;
