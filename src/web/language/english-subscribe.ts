/** Texts of subscriptions by e-mail, in English. */

/** The texts of the pages of subscriptions. */
export const englishSubscribe = {
  byMail: 'By e-mail',
  byMailFor: 'for people: down, up, incidents and maintenance',
  title: (what: string) => `Subscribe to ${what}`,
  category: (title: string) => `all services of the category ${title}`,
  lead: (what: string) =>
    `You get an e-mail when ${what} goes down or comes back, and about incidents and maintenance: at most one for each change.`,
  address: 'E-mail address',
  subscribe: 'Subscribe',
  promise:
    'The first e-mail asks you to confirm. Your address is stored encrypted, shown to nobody, and deleted when you unsubscribe. Every e-mail has a link for that.',
  invalid: 'This is not an e-mail address.',
  sentTitle: 'Check your inbox',
  sent: 'If this address can receive e-mail, a message with a link to confirm is on its way. The link is valid for 48 hours.',
  sentHint: 'Nothing arrived? Check the spam folder. An address gets at most 5 of these messages a day.',
  confirmTitle: 'Confirm',
  confirmLead: (what: string) => `Do you want e-mail about ${what}?`,
  confirm: 'Yes, send me e-mail',
  confirmedTitle: 'Subscription confirmed',
  confirmed: (what: string) => `You will get e-mail about ${what}.`,
  endTitle: 'Unsubscribe',
  endLead: (what: string) => `Do you want to stop getting e-mail about ${what}?`,
  end: 'Unsubscribe',
  endedTitle: 'You have unsubscribed',
  ended: 'Your address has been deleted. You will get no more e-mail from this subscription.',
  goneTitle: 'This link no longer works',
  gone: 'The subscription has ended, was not confirmed in time, or what it was about is gone.',
  channelTitle: 'Receive alerts',
  channelLead: (account: string, channel: string) =>
    `The account "${account}" wants to send alerts to your address, as its channel "${channel}".`,
  channelConfirm: 'Yes, send me alerts',
  channelConfirmed: (account: string, channel: string) =>
    `You will get the alerts of the channel "${channel}" of the account "${account}".`,
  channelGone: 'The channel is gone, or its address has changed.',
  stopLead: (account: string, channel: string) =>
    `Do you want to stop getting the alerts of the channel "${channel}" of the account "${account}"?`,
  stop: 'Stop these alerts',
  stoppedTitle: 'Alerts stopped',
  stopped: (account: string, channel: string) =>
    `You get no more alerts of the channel "${channel}" of the account "${account}", whose owners can see that.`,
  resume: 'Get them again',
  back: 'Back',
  home: 'All services',
  subscribers: (count: number) =>
    count === 1 ? '1 person gets e-mail about it.' : `${count} people get e-mail about it.`,
  tooMany: (seconds: number) => `Too many attempts. Wait ${seconds} s.`,
};
