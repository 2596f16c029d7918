// SPDX-License-Identifier: Apache-2.0
/**
 * What makes a table a snapshot. The schema is the only register: an extension of each table says
 * of what and when it is a snapshot, so restarts, schema backups and nodes that join carry it.
 */
package io.isolde.snapshot.table;
