// SPDX-License-Identifier: Apache-2.0
/**
 * Mailboxes as Apache James sees them: its mappers, and no decision of our own. {@link
 * io.isolde.mail.store.james.CqlMapperFactory} makes them; {@link
 * io.isolde.mail.store.james.JamesMailboxes} puts its managers on top.
 */
package io.isolde.mail.store.james;
